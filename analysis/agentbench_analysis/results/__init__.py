"""What the analysis publishes: results, verdict, and the numbers behind them."""
