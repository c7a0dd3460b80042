import { join } from "node:path";
import { buildFolder, once } from "./build-once.ts";
import { go } from "./tools.ts";

/** A program that parses files of Terraform and checks their format; returns its path. Its build takes seconds. */
export async function buildHcl(): Promise<string> {
  const folder = join(import.meta.dirname, "hcl");
  const program = join(buildFolder, "bin", "check-hcl");
  const sources = ["go.mod", "go.sum", "main.go", "functions.go"].map((file) => join(folder, file));
  await once("hcl", [import.meta.filename, ...sources], async () => {
    await go(["-C", folder, "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "."]);
  });
  return program;
}
