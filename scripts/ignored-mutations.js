/** A log line is text for people: no test pins its words. */
const logCalls = {
  shouldIgnore(path) {
    const call = path.isExpressionStatement() ? path.node.expression : path.node;
    if (call.type !== "CallExpression") return undefined;
    const { object } = call.callee;
    const log = object?.property?.name ?? object?.name;
    return log === "log" ? "a log line" : undefined;
  },
};

export const strykerPlugins = [{ kind: "Ignore", name: "log-calls", value: logCalls }];
