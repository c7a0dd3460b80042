/** Calls back for every key pressed, where there is a keyboard; takes the terminal back when it is called. */
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
