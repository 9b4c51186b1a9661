"""`python -m agentbench.app`."""

from agentbench.app.main import main

raise SystemExit(main())
