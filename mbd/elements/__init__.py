"""What bodies, joints and forces share."""
