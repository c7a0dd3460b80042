import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { zipSync } from "fflate";
import { templateKinds } from "../cli/template/fill-in.ts";
import { terraformTemplate } from "./terraform-template.ts";

/*
 * What the Terraform module reads beside its own files: templates and the functions' code, out of `npm run build`. The
 * module with all of it is dist/terraform.zip, which a release attaches.
 */

const root = join(import.meta.dirname, "..");

/** The templates by their file's name. */
export const terraformTemplates = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    templateKinds.flatMap((kind) =>
      [false, true].map((isInVpc) => [
        `${kind}${isInVpc ? "-vpc" : ""}.json.tftpl`,
        terraformTemplate(kind, isInVpc),
      ]),
    ),
  );

function buildTerraform(): void {
  const folder = join(root, "terraform/package");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [name, text] of Object.entries(terraformTemplates())) writeFileSync(join(folder, name), text);
  for (const archive of globSync(["dist/functions/*.zip", "dist/template/provider.zip"], { cwd: root }))
    writeFileSync(join(folder, basename(archive)), readFileSync(join(root, archive)));
  const mtime = new Date(1980, 0, 1);
  const files = globSync(["*.tf", "README.md", "package/*"], { cwd: join(root, "terraform") }).sort();
  const contents = files.map((file) => [file, [readFileSync(join(root, "terraform", file)), { mtime }]]);
  writeFileSync(join(root, "dist/terraform.zip"), zipSync(Object.fromEntries(contents), { level: 9 }));
}

if (import.meta.main) buildTerraform();
