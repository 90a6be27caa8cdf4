"""What y means."""
