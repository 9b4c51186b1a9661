"""The app that the tasks extend, as the checks use it: people of tenants, drawn from a seed."""

import random
import string

from lib.client import Client
from lib.report import expect


class Desk:
    """An app, and everything that must stay secret in it."""

    def __init__(self, url, seed):
        self.client = Client(url)
        self.random = random.Random(seed)
        self.secrets = {}

    def word(self, length=12):
        """A word that nobody else uses."""
        return "".join(self.random.choices(string.ascii_lowercase, k=length))

    def credentials(self):
        """A new address and password."""
        password = f"Pw-{self.word(16)}"
        self.secrets[password] = "a password"
        return {"email": f"{self.word()}@example.test", "password": password}

    def tenant(self):
        """The first user of a new tenant."""
        given = self.credentials()
        answer = self.client.post("/signup", {**given, "tenant": self.word()}).success()
        return self.user(answer, given)

    def colleague(self, user):
        """Another user of a user's tenant."""
        given = self.credentials()
        user.post("/users", given).success()
        return self.user(self.client.post("/login", given).success(), given, user.tenant)

    def user(self, answer, given, tenant=None):
        """A signed-in user, from the answer to a sign-up or a log-in."""
        token = answer.field("token", str)
        expect(len(token) >= 8, f"{answer}: the token is too short")
        self.secrets[token] = "a session token"
        user = self.client.signed_in(token)
        user.email, user.password = given["email"], given["password"]
        user.tenant = tenant or answer.field("user", dict).get("tenantId")
        return user
