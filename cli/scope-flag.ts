import { InvalidArgumentError, Option } from "commander";
import { parseScope } from "../lambda/core/scope.ts";

/** The flag that narrows a deed to one scope. */
export const scopeFlag = (): Option =>
  new Option("--scope <scope>", "cluster, or nodepool/NAME (default: all there is)").argParser((text) => {
    const scope = parseScope(text);
    if (scope === undefined) throw new InvalidArgumentError('It must be "cluster" or "nodepool/NAME".');
    return scope;
  });
