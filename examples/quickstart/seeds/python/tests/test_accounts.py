"""Passwords are stored so that they cannot be read back."""

import unittest

from app.accounts import hashed


class Passwords(unittest.TestCase):
    def test_two_hashes_of_a_password_differ(self):
        self.assertNotEqual(hashed("secret"), hashed("secret"))

    def test_the_same_salt_gives_the_same_hash(self):
        self.assertEqual(hashed("secret", "salt"), hashed("secret", "salt"))


if __name__ == "__main__":
    unittest.main()
