import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";

/**
 * The SDK describes every operation of a service in one file, with computed keys such as `[_n]: "name"`. A bundler
 * must keep objects with computed keys: half a megabyte for EC2 alone. The keys are constants of the same file, so
 * they are replaced by their values; then esbuild leaves out every unused operation.
 */
export const plainSchemaKeys: Plugin = {
  name: "plain-schema-keys",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]schemas_\d+\.js$/ }, async ({ path }) => ({
      contents: withPlainKeys(await readFile(path, "utf8")),
      loader: "js",
    }));
  },
};

/** The same module, with each key that is a constant text replaced by that text. */
export function withPlainKeys(source: string): string {
  const constants = new Map(
    [...source.matchAll(/^const (\w+) = ("[^"\\]*");$/gm)].map(([, name, text]) => [name, text]),
  );
  return source.replace(/\[(\w+)\]:/g, (key, name) => {
    const text = constants.get(name);
    // Written out, this one key would mean something else.
    return text === undefined || text === '"__proto__"' ? key : `${text}:`;
  });
}
