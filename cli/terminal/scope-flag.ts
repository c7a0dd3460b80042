import { InvalidArgumentError, Option } from "commander";
import { parseScope } from "../../lambda/core/scope.ts";

/** The flag that narrows an action to one scope; what it means to leave it out depends on the action. */
export const scopeFlag = (otherwise = "default: all"): Option =>
  new Option("--scope <scope>", `cluster, or nodepool/NAME (${otherwise})`).argParser((text) => {
    const scope = parseScope(text);
    if (scope === undefined) throw new InvalidArgumentError('It must be "cluster" or "nodepool/NAME".');
    return scope;
  });
