/** A function that only logs is named so: `logVerdicts`. */
const namesLogging = (name) => /^log[A-Z]/.test(name ?? "");

const isLogCall = (path) => {
  const call = path.isExpressionStatement() ? path.node.expression : path.node;
  if (call.type !== "CallExpression") return false;
  const { object, name } = call.callee;
  return (object?.property?.name ?? object?.name) === "log" || namesLogging(name);
};

const logsOnly = (path) =>
  (path.isBlockStatement() && path.get("body").every(isLogCall)) ||
  (path.isFunctionDeclaration() && namesLogging(path.node.id?.name));

/** A log line is text for people: no test pins its words. */
const logCalls = {
  shouldIgnore: (path) => (isLogCall(path) || logsOnly(path) ? "a log line" : undefined),
};

export const strykerPlugins = [{ kind: "Ignore", name: "log-calls", value: logCalls }];
