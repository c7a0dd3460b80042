/** Calls back for every pressed key, where there is a keyboard; the returned function resets the terminal. */
export function onKey(action: (key: string) => void): () => void {
  const { stdin } = process;
  if (!stdin.isTTY) return () => {};
  stdin.setRawMode(true);
  stdin.setEncoding("utf8");
  stdin.on("data", action);
  return () => {
    stdin.off("data", action);
    stdin.setRawMode(false);
    stdin.pause();
  };
}
