import type { Terminal } from "../../cli/terminal/terminal.ts";
import type { TimelineEvent } from "../../local/holder/timeline.ts";

type Style = Parameters<Terminal["style"]>[0];
type Line = Readonly<{ sign: string; style: Style; text: string }>;

/** Reports events as a timeline, a line each; nodes to which the same happens at once share one. */
export class Narrator {
  readonly #begin: Date;
  readonly #terminal: Pick<Terminal, "out" | "style">;
  #waiting: { at: Date; line: Line; nodes: string[] } | undefined;
  #swept: Date | undefined;

  constructor(begin: Date, terminal: Pick<Terminal, "out" | "style">) {
    this.#begin = begin;
    this.#terminal = terminal;
  }

  report(event: TimelineEvent): void {
    const { at } = event;
    if (event.kind === "sweep") {
      this.#swept = at;
      return;
    }
    // The launch or use itself has a line.
    if (event.kind === "hold caused") return;
    // A sweep is only worth a line where it does something.
    if (this.#swept?.getTime() === at.getTime() && event.kind !== "node joined") {
      this.flush();
      this.#print(at, { sign: "~", style: "blue", text: "the sweep finds something to do" }, []);
    }
    this.#swept = undefined;
    const waiting = this.#waiting;
    const line = this.#lineOf(event);
    const node = "node" in event ? event.node : undefined;
    if (waiting && node && this.#clock(waiting.at) === this.#clock(at) && waiting.line.text === line.text) {
      waiting.nodes.push(node);
      return;
    }
    this.flush();
    this.#waiting = { at, line, nodes: node ? [node] : [] };
  }

  /** Prints what happened outside of the holder. */
  remark(at: Date, text: string): void {
    this.flush();
    this.#print(at, { sign: "·", style: "dim", text }, []);
  }

  /** Prints the line that still waits for further nodes. */
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

  #lineOf(event: Exclude<TimelineEvent, { kind: "sweep" | "hold caused" }>): Line {
    switch (event.kind) {
      case "launch":
        return { sign: "▲", style: "cyan", text: `launch of ${event.instance}` };
      case "node joined":
        return { sign: "+", style: "white", text: `NODES joined NodePool ${event.nodePool}` };
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
      case "node excluded":
        return { sign: "◆", style: "magenta", text: "NODES kept out of holds by the user" };
      case "node included":
        return { sign: "◇", style: "magenta", text: "NODES may be held again" };
      case "hold started":
        return {
          sign: "┏",
          style: "green",
          text: `hold until ${this.#clock(event.until).trim()}: ${event.because}`,
        };
      case "hold extended":
        return {
          sign: "┣",
          style: "green",
          text: `hold extended until ${this.#clock(event.until).trim()}`,
        };
      case "hold releasing":
        return { sign: "┗", style: "yellow", text: `${event.because}: release` };
      case "hold ended":
        return { sign: "┗", style: "yellow", text: `hold over: ${event.because}` };
      case "release armed":
        return { sign: "◷", style: "dim", text: `one-shot set for ${this.#clock(event.until).trim()}` };
      case "release fired":
        return { sign: "◷", style: "dim", text: "one-shot fires" };
      case "note":
        return { sign: "✗", style: "red", text: event.text };
    }
  }

  #clock(at: Date): string {
    const seconds = Math.round((at.getTime() - this.#begin.getTime()) / 1_000);
    const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
    return `${String(minutes).padStart(4)}:${String(rest).padStart(2, "0")}`;
  }
}
