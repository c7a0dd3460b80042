type Step = Readonly<{ what: string; undo: () => Promise<unknown> }>;

/** Undoes what was created, the last first; one failure does not stop the others. */
export class Cleanup {
  readonly #steps: Step[] = [];

  /** Before the creation, if it may fail half-way; undoing what is not there must succeed. */
  add(what: string, undo: () => Promise<unknown>): void {
    this.#steps.push({ what, undo });
  }

  /** Returns what could not be undone, with the reason. */
  async run(report: (line: string) => void): Promise<readonly string[]> {
    const left: string[] = [];
    for (let step = this.#steps.pop(); step; step = this.#steps.pop()) {
      report(`removing ${step.what}`);
      await step.undo().catch((error: unknown) => {
        if (!isGone(error)) left.push(`${step.what}: ${error instanceof Error ? error.message : error}`);
      });
    }
    return left;
  }
}

const gone = new Set(["ResourceNotFoundException", "NoSuchEntityException", "QueueDoesNotExist"]);

const isGone = (error: unknown): boolean =>
  error instanceof Error && (gone.has(error.name) || error.name.endsWith("NonExistentQueue"));
