import type { Terminal } from "../../cli/terminal/terminal.ts";
import type { TimelineEvent } from "../../local/holder/timeline.ts";

type Look = Extract<TimelineEvent, { kind: "look" }>;
type Style = Parameters<Terminal["style"]>[0];
type Line = readonly [sign: string, style: Style, text: string];

/** Reports events as a timeline, a line each; nodes to which the same happens at once share one. */
export class Narrator {
  readonly #begin: Date;
  readonly #terminal: Pick<Terminal, "out" | "style">;
  #waiting: { at: Date; line: Line; nodes: string[] } | undefined;
  #swept: Date | undefined;
  /** The nodes that had been let go when they were last looked at. */
  #letGo: readonly string[] = [];

  constructor(begin: Date, terminal: Pick<Terminal, "out" | "style">) {
    this.#begin = begin;
    this.#terminal = terminal;
  }

  report(event: TimelineEvent): void {
    const { at, kind } = event;
    if (kind === "sweep") this.#swept = at;
    if (kind === "look") this.#look(at, event.verdicts);
    const line = this.#lineOf(event);
    if (!line) return;
    // A sweep is only worth a line where it does something.
    if (this.#swept?.getTime() === at.getTime() && kind !== "node joined") {
      this.flush();
      this.#print(at, ["~", "blue", "the sweep finds something to do"]);
    }
    this.#swept = undefined;
    const waiting = this.#waiting;
    const nodes = "node" in event ? [event.node] : [];
    const isSame = waiting?.line[2] === line[2] && this.#clock(waiting.at) === this.#clock(at);
    if (nodes.length > 0 && waiting && isSame) {
      waiting.nodes.push(...nodes);
      return;
    }
    this.flush();
    this.#waiting = { at, line, nodes };
  }

  /** Prints why nodes are let go. */
  #look(at: Date, verdicts: Look["verdicts"]): void {
    const letGo = verdicts.filter(({ isLetGo }) => isLetGo);
    const news = letGo.filter(({ name }) => !this.#letGo.includes(name));
    for (const [because, nodes] of Map.groupBy(news, (one) => one.because)) {
      this.flush();
      const text = `NODES no longer ${nodes.length === 1 ? "pays" : "pay"}: ${because}`;
      this.#print(
        at,
        ["◇", "yellow", text],
        nodes.map(({ name }) => name),
      );
    }
    this.#letGo = letGo.map(({ name }) => name);
  }

  /** Prints what happened outside of the holder. */
  remark(at: Date, text: string): void {
    this.flush();
    this.#print(at, ["·", "dim", text]);
  }

  /** Prints the line that still waits for further nodes. */
  flush(): void {
    if (!this.#waiting) return;
    const { at, line, nodes } = this.#waiting;
    this.#waiting = undefined;
    this.#print(at, line, nodes);
  }

  #print(at: Date, [sign, colour, text]: Line, nodes: readonly string[] = []): void {
    const { style, out } = this.#terminal;
    const named = text.replace("NODES", nodes.toSorted().join(", "));
    out(`${style("dim", this.#clock(at))}  ${style(colour, sign)} ${named}`);
  }

  /** Undefined for what needs no line of its own. */
  #lineOf(event: TimelineEvent): Line | undefined {
    const until = "until" in event ? this.#clock(event.until).trim() : "";
    switch (event.kind) {
      case "launch":
        return ["▲", "cyan", `launch of ${event.instance}`];
      case "node joined":
        return ["+", "white", `NODES joined NodePool ${event.nodePool}`];
      case "node gone":
        return ["−", "dim", "NODES gone"];
      case "node marked":
        return ["■", "green", "NODES held"];
      case "node released":
        return ["□", "yellow", "NODES free"];
      case "node user-held":
        return ["◆", "magenta", "NODES held by the user's own annotation"];
      case "node handed over":
        return ["◆", "magenta", "NODES handed over to the user"];
      case "node let go":
        return ["◇", "magenta", "NODES let go by the user"];
      case "node excluded":
        return ["◆", "magenta", "NODES kept out of holds by the user"];
      case "node included":
        return ["◇", "magenta", "NODES may be held again"];
      case "hold started":
        return ["┏", "green", `hold until ${until}: ${event.because}`];
      case "hold extended":
        return ["┣", "green", `hold extended until ${until}`];
      case "hold releasing":
        return ["┗", "yellow", `${event.because}: release`];
      case "hold ended":
        return ["┗", "yellow", `hold over: ${event.because}`];
      case "note":
        return ["✗", "red", event.text];
      default:
        return undefined;
    }
  }

  #clock(at: Date): string {
    const seconds = Math.round((at.getTime() - this.#begin.getTime()) / 1_000);
    const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
    return `${String(minutes).padStart(4)}:${String(rest).padStart(2, "0")}`;
  }
}
