import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new folder for a test. The set-up of all tests deletes it in the end. */
export const newFolder = (): string => mkdtempSync(join(tmpdir(), "test-"));
