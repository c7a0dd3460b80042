/** The fault of a call. `lost`: the change is made, but the answer never arrives. */
export type Fault =
  | Readonly<{ kind: "status"; status: number; headers?: Readonly<Record<string, string>>; message?: string }>
  | Readonly<{ kind: "reset" | "hang" | "lost" }>;

/** The calls that a fault applies to; a missing field matches all. */
export type FaultMatch = Readonly<{ method?: string; path?: string | RegExp }>;

type Planned = { readonly match: FaultMatch; readonly fault: Fault; left: number };

/** Planned faults for the next calls that match. */
export class Faults {
  readonly #planned: Planned[] = [];

  plan(fault: Fault, match: FaultMatch = {}, times = 1): void {
    this.#planned.push({ match, fault, left: times });
  }

  meet(method: string, path: string): Fault | undefined {
    const planned = this.#planned.find(({ match, left }) => left > 0 && meets(match, method, path));
    if (planned) planned.left -= 1;
    return planned?.fault;
  }
}

function meets(match: FaultMatch, method: string, path: string): boolean {
  if (match.method !== undefined && match.method !== method) return false;
  if (match.path instanceof RegExp) return match.path.test(path);
  return match.path === undefined || match.path === path;
}
