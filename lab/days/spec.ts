import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileText } from "../../cli/file-text.ts";
import { BadInputError, messageOf } from "../../lambda/core/errors.ts";
import { type Arm, armOf } from "./arms.ts";
import { type EngineConfig, engineConfig } from "./config.ts";
import { traceOf } from "./traces/names.ts";
import { traceOfPods } from "./traces/pods.ts";
import { parseTrace, type Trace } from "./traces/trace.ts";
import { misfitsOf, typesOf } from "./worlds.ts";

/** Where a trace comes from: a generator, a file, or a part of a list of pods. Results are compared by its name. */
export type Source = Readonly<{ name: string }> &
  (
    | Readonly<{ kind: "name" }>
    | Readonly<{ kind: "file"; file: string }>
    | Readonly<{ kind: "pods"; file: string; from: number; lasts: number }>
  );

/** One run. */
export type Spec = Readonly<{ source: Source; arm: string; karpenter: string; types: string; seed: number }>;

/** The spec in a few words. */
export const titleOf = ({ source, arm, karpenter, types, seed }: Spec): string =>
  `${source.name}, ${types}, Karpenter ${karpenter}, seed ${seed}, ${arm}`;

/** `notify` receives what a list of pods leaves out. */
export async function loadTrace(
  source: Source,
  seed: number,
  notify: (line: string) => void = () => {},
): Promise<Trace> {
  if (source.kind === "name") return traceOf(source.name, seed);
  if (source.kind === "pods") return traceOfPods(source.file, source, notify);
  return parseTrace(await readJson(source.file), source.file);
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(fileText(await readFile(file)));
  } catch (error) {
    throw new BadInputError(file, [messageOf(error)]);
  }
}

/** A run with everything that it needs, and the key under which its result is stored. */
export type Prepared = Readonly<{ spec: Spec; arm: Arm; trace: Trace; config: EngineConfig; key: string }>;

export async function prepare(
  spec: Spec,
  load: (source: Source, seed: number) => Promise<Trace> = loadTrace,
): Promise<Prepared> {
  const { source, karpenter, seed } = spec;
  const arm = armOf(spec.arm);
  if (!arm) throw new BadInputError("This run cannot be made", [`there is no arm ${spec.arm}`]);
  const types = typesOf(spec.types);
  const trace = await load(source, seed);
  const misfits = misfitsOf(trace, types);
  if (misfits.length > 0)
    throw new BadInputError(`${source.name} cannot be played with the types ${spec.types}`, [
      ...misfits.slice(0, 3),
      ...(misfits.length > 3 ? [`and ${misfits.length - 3} more`] : []),
    ]);
  const config = engineConfig({ trace, arm, types, seed });
  const inputs = [config, karpenter, engineHash(karpenter), arm.holder ? [arm.holder, holderHash()] : []];
  const key = createHash("sha256").update(JSON.stringify(inputs)).digest("hex").slice(0, 16);
  return { spec, arm, trace, config, key };
}

const root = join(import.meta.dirname, "../..");

/** What the engine is compiled from. */
export const engineHash = (karpenter: string): string => {
  const patterns = ["lab/days/engine/*.go", `lab/days/engine/versions/${karpenter}/*`];
  return hashOf(karpenter, () =>
    globSync(patterns, { cwd: root }).filter((file) => !file.endsWith("_test.go")),
  );
};

/** The holder's sources: another version, also one that is not committed, is another result. */
export const holderHash = (): string => hashOf("holder", holderFiles);

/** What the lab's holder imports, also by way of others; a type changes no result. */
export function holderFiles(): readonly string[] {
  const files = new Set(["lab/days/holder/holder.ts"]);
  for (const file of files)
    for (const [, path = ""] of readFileSync(join(root, file), "utf8").matchAll(imported))
      files.add(join(dirname(file), path));
  return [...files];
}

const imported = /^(?:import|export)(?! type)[^;]*? from "(\.[^"]+)";/gm;

const known = new Map<string, string>();

function hashOf(name: string, list: () => readonly string[]): string {
  const present = known.get(name);
  if (present !== undefined) return present;
  const hash = createHash("sha256");
  for (const file of list().toSorted()) hash.update(`${file}\n`).update(readFileSync(join(root, file)));
  const digest = hash.digest("hex");
  known.set(name, digest);
  return digest;
}
