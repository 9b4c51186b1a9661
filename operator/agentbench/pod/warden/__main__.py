"""`python -m agentbench.pod.warden`."""

import sys

from agentbench.pod.warden.main import main

sys.exit(main())
