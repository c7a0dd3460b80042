import { createServer } from "node:net";

/** Another process took a port that was free a moment ago. */
export class PortTakenError extends Error {
  override readonly name = "PortTakenError";
}

/** Free ports; all are opened before any is closed, so that they differ. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => listen(0)));
  return Promise.all(
    servers.map(async (server) => {
      const address = server.address();
      await new Promise((resolve) => server.close(resolve));
      if (address === null || typeof address === "string") throw new Error("found no free port on loopback");
      return address.port;
    }),
  );
}

/** Starts something on free ports, and again on others when one of them was taken meanwhile. */
export async function onFreePorts<T>(
  count: number,
  start: (ports: readonly number[]) => Promise<T>,
  tries = 5,
): Promise<T> {
  for (;;) {
    try {
      return await start(await freePorts(count));
    } catch (error) {
      tries -= 1;
      if (!(error instanceof PortTakenError) || tries === 0) throw error;
    }
  }
}

/** Whether this port of loopback is free. */
export async function isFree(port: number): Promise<boolean> {
  try {
    const server = await listen(port);
    await new Promise((resolve) => server.close(resolve));
    return true;
  } catch {
    return false;
  }
}

const listen = (port: number) =>
  new Promise<ReturnType<typeof createServer>>((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
