import { type ChildProcess, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { spawnGuarded } from "../support/guarded.ts";

const names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

/** The browser on this machine; undefined when there is none. */
export const chromium = names.find((name) => spawnSync(name, ["--version"]).status === 0);

type Answer = Readonly<{
  id?: number;
  result?: unknown;
  error?: { message: string };
  method?: string;
  params?: { type?: string; entry?: { level?: string } };
}>;

/** An exception, a line of console.error, or a refused request. */
const isError = ({ method, params }: Answer): boolean =>
  method === "Runtime.exceptionThrown" ||
  (method === "Runtime.consoleAPICalled" && params?.type === "error") ||
  (method === "Log.entryAdded" && params?.entry?.level === "error");

/** A headless browser with one tab, driven by its own protocol. */
export class Browser {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  /** What the page reported as an error, since it was opened. */
  readonly errors: string[] = [];
  #session = "";
  #count = 0;

  private constructor(child: ChildProcess, folder: string, socket: WebSocket) {
    this.#child = child;
    this.#folder = folder;
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      const answer = JSON.parse(String(data)) as Answer;
      if (answer.id !== undefined) this.#waiting.get(answer.id)?.(answer);
      else if (isError(answer)) this.errors.push(String(data));
    });
  }

  static async start(command: string): Promise<Browser> {
    const folder = mkdtempSync(join(tmpdir(), "browser-"));
    const flags = "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --remote-debugging-port=0";
    const child = spawnGuarded(command, [...flags.split(" "), `--user-data-dir=${folder}`, "about:blank"], {
      stdio: ["ignore", "ignore", "pipe"],
      // What it writes elsewhere it leaves behind when it is killed.
      env: { ...process.env, TMPDIR: folder },
    });
    try {
      const socket = new WebSocket(await addressOf(child));
      await once(socket, "open");
      const browser = new Browser(child, folder, socket);
      await browser.#attach();
      return browser;
    } catch (error) {
      child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.#socket.close();
    const gone = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await gone;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }

  async open(
    url: string,
    { width = 1280, height = 900, theme = "light", timezoneId = "UTC" } = {},
  ): Promise<void> {
    const screen = { width, height, deviceScaleFactor: 1, mobile: false };
    await this.#ask("Emulation.setDeviceMetricsOverride", screen);
    const features = [{ name: "prefers-color-scheme", value: theme }];
    await this.#ask("Emulation.setEmulatedMedia", { features });
    await this.#ask("Emulation.setTimezoneOverride", { timezoneId });
    this.errors.length = 0;
    await this.#ask("Page.navigate", { url });
  }

  /** What an expression is in the page. */
  async read(expression: string): Promise<unknown> {
    const asked = { expression, awaitPromise: true, returnByValue: true };
    const reported = await this.#ask("Runtime.evaluate", asked);
    if (Reflect.get(reported, "exceptionDetails")) throw new Error(`${expression} threw in the page`);
    return Reflect.get(Reflect.get(reported, "result"), "value");
  }

  async press(key: string): Promise<void> {
    await this.#ask("Input.dispatchKeyEvent", { type: "keyDown", key });
    await this.#ask("Input.dispatchKeyEvent", { type: "keyUp", key });
  }

  async #attach(): Promise<void> {
    const { targetInfos } = (await this.#ask("Target.getTargets")) as {
      targetInfos: { type: string; targetId: string }[];
    };
    const targetId = targetInfos.find(({ type }) => type === "page")?.targetId;
    const attached = await this.#ask("Target.attachToTarget", { targetId, flatten: true });
    this.#session = String(Reflect.get(attached, "sessionId"));
    for (const domain of ["Runtime", "Log"]) await this.#ask(`${domain}.enable`);
  }

  #ask(method: string, params: object = {}): Promise<object> {
    this.#count += 1;
    const id = this.#count;
    const session = this.#session && { sessionId: this.#session };
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ result, error }) => {
        this.#waiting.delete(id);
        if (error) reject(new Error(`${method}: ${error.message}`));
        else resolve(Object(result));
      });
      this.#socket.send(JSON.stringify({ id, method, params, ...session }));
    });
  }
}

async function addressOf(child: ChildProcess): Promise<string> {
  if (!child.stderr) throw new Error("the browser has no standard error");
  const said: string[] = [];
  for await (const line of createInterface(child.stderr)) {
    const address = /DevTools listening on (\S+)/.exec(line)?.[1];
    if (address) {
      child.stderr.resume();
      return address;
    }
    said.push(line);
  }
  throw new Error(`the browser did not start: ${said.slice(-5).join(" ")}`);
}
