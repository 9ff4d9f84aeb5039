"""What methods on points and directors share."""
