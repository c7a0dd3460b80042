import type { Terminal } from "../../cli/terminal/terminal.ts";
import type { Happening } from "../../local/holder/timeline.ts";

type Style = Parameters<Terminal["style"]>[0];
type Line = Readonly<{ sign: string; style: Style; text: string }>;

/** Tells happenings as a timeline, a line each; nodes to which the same happens at once share one. */
export class Telling {
  readonly #begin: Date;
  readonly #terminal: Pick<Terminal, "out" | "style">;
  #waiting: { at: Date; line: Line; nodes: string[] } | undefined;
  #swept: Date | undefined;

  constructor(begin: Date, terminal: Pick<Terminal, "out" | "style">) {
    this.#begin = begin;
    this.#terminal = terminal;
  }

  hear(happening: Happening): void {
    const { at } = happening;
    if (happening.kind === "sweep") {
      this.#swept = at;
      return;
    }
    // A sweep is only worth a line where it does something.
    if (this.#swept?.getTime() === at.getTime() && happening.kind !== "node joined") {
      this.flush();
      this.#print(at, { sign: "~", style: "blue", text: "the sweep finds something to do" }, []);
    }
    this.#swept = undefined;
    const waiting = this.#waiting;
    const line = this.#lineOf(happening);
    const node = "node" in happening ? happening.node : undefined;
    if (waiting && node && this.#clock(waiting.at) === this.#clock(at) && waiting.line.text === line.text) {
      waiting.nodes.push(node);
      return;
    }
    this.flush();
    this.#waiting = { at, line, nodes: node ? [node] : [] };
  }

  /** Prints what still waits for company. */
  flush(): void {
    if (!this.#waiting) return;
    const { at, line, nodes } = this.#waiting;
    this.#waiting = undefined;
    this.#print(at, line, nodes);
  }

  #print(at: Date, line: Line, nodes: readonly string[]): void {
    const names = nodes.toSorted().join(", ");
    const { style, out } = this.#terminal;
    out(
      `${style("dim", this.#clock(at))}  ${style(line.style, line.sign)} ${line.text.replace("NODES", names)}`,
    );
  }

  #lineOf(happening: Exclude<Happening, { kind: "sweep" }>): Line {
    switch (happening.kind) {
      case "launch":
        return { sign: "▲", style: "cyan", text: `launch of ${happening.instance}` };
      case "node joined":
        return { sign: "+", style: "white", text: `NODES joined NodePool ${happening.nodePool}` };
      case "node gone":
        return { sign: "−", style: "dim", text: "NODES gone" };
      case "node marked":
        return { sign: "■", style: "green", text: "NODES held" };
      case "node released":
        return { sign: "□", style: "yellow", text: "NODES free" };
      case "node user-held":
        return { sign: "◆", style: "magenta", text: "NODES held by the user's own annotation" };
      case "node handed over":
        return { sign: "◆", style: "magenta", text: "NODES handed over to the user" };
      case "node let go":
        return { sign: "◇", style: "magenta", text: "NODES let go by the user" };
      case "hold started":
        return {
          sign: "┏",
          style: "green",
          text: `hold until ${this.#clock(happening.until).trim()}: ${happening.because}`,
        };
      case "hold extended":
        return {
          sign: "┣",
          style: "green",
          text: `hold extended until ${this.#clock(happening.until).trim()}`,
        };
      case "hold releasing":
        return { sign: "┗", style: "yellow", text: `${happening.because}: release` };
      case "hold ended":
        return { sign: "┗", style: "yellow", text: `hold over: ${happening.because}` };
      case "release armed":
        return { sign: "◷", style: "dim", text: `one-shot set for ${this.#clock(happening.until).trim()}` };
      case "release fired":
        return { sign: "◷", style: "dim", text: "one-shot fires" };
      case "note":
        return { sign: "✗", style: "red", text: happening.text };
    }
  }

  #clock(at: Date): string {
    const seconds = Math.round((at.getTime() - this.#begin.getTime()) / 1_000);
    const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
    return `${String(minutes).padStart(4)}:${String(rest).padStart(2, "0")}`;
  }
}
