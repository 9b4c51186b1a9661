// Brings the data's shape up to date.
import { migrate } from "./store.js";

for (const name of await migrate()) console.log(`applied ${name}`);
