import { createHash } from "node:crypto";
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { packageRoot } from "../../infra/package-root.ts";
import { makeFolder } from "../../local/make-folder.ts";
import { Failure } from "../terminal/failure.ts";
import { type Asset, type Choice, fillIn } from "./fill-in.ts";

type Target = Omit<Choice, "codeOf"> & Readonly<{ bucket: string; prefix: string; folder: string }>;

/** Writes template.json and the archives it names; an archive's name changes with its content, so that Lambda updates its code. */
export function writeTemplate({ bucket, prefix, folder, ...choice }: Target): void {
  const built = join(packageRoot(import.meta.dirname), "dist");
  const source = join(built, "template", `${choice.access}.json.gz`);
  if (!existsSync(source))
    throw new Failure("the templates are not built", "In a clone of the repository, run: npm run build");
  makeFolder(folder);
  const codeOf = (asset: Asset) => {
    const archive = join(built, asset === "provider" ? "template" : "functions", `${asset}.zip`);
    const name = `${asset}-${createHash("sha256").update(readFileSync(archive)).digest("hex").slice(0, 16)}.zip`;
    copyFileSync(archive, join(folder, name));
    return { S3Bucket: bucket, S3Key: `${prefix}${name}` };
  };
  const template = fillIn(gunzipSync(readFileSync(source)).toString("utf8"), { ...choice, codeOf });
  writeFileSync(join(folder, "template.json"), `${JSON.stringify(template, undefined, 2)}\n`);
}
