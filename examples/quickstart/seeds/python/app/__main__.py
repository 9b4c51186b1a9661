"""Serves the app on $PORT."""

import os

import uvicorn

from app.main import app

host = os.environ.get("HOST", "127.0.0.1")
uvicorn.run(app, host=host, port=int(os.environ["PORT"]), log_level="warning", ws="none")
