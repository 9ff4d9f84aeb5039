"""What runs leave behind."""
