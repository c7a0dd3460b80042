/** A log line is text for people: no test pins its words. */
const logCalls = {
  shouldIgnore(path) {
    if (!path.isCallExpression()) return undefined;
    const { object } = path.node.callee;
    const log = object?.property?.name ?? object?.name;
    return log === "log" ? "a log line" : undefined;
  },
};

export const strykerPlugins = [{ kind: "Ignore", name: "log-calls", value: logCalls }];
