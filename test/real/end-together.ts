const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const endings = new Set<() => void>();

/** Calls this when our process ends, be it by a signal, an uncaught error or in peace; returns how to take it back. */
export function endTogether(ending: () => void): () => void {
  if (endings.size === 0) {
    process.on("exit", endAll); // also after an uncaught error
    for (const signal of signals) process.on(signal, endBySignal);
  }
  endings.add(ending);
  return () => {
    endings.delete(ending);
    if (endings.size === 0) stopListening();
  };
}

function stopListening(): void {
  process.off("exit", endAll);
  for (const signal of signals) process.off(signal, endBySignal);
}

function endAll(): void {
  for (const ending of [...endings].reverse()) ending();
}

function endBySignal(signal: NodeJS.Signals): void {
  endAll();
  stopListening();
  // Others may have plans of their own for it; without any, the signal does what it always does.
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
}
