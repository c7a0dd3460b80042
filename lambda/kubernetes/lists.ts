import * as v from "valibot";
import { TryAgainError } from "../core/errors.ts";
import type { CallContext } from "../core/ports.ts";
import type { KubernetesCaller } from "./client.ts";
import { asRecord } from "./node-objects.ts";
import { TooLongError } from "./transport.ts";

/** Where objects are listed, and what is read of each. */
type List<T> = Readonly<{
  path: string;
  query?: Readonly<Record<string, string>>;
  schema: v.GenericSchema<unknown, T>;
  pageSize: number;
}>;

/** The objects of a list, page by page. */
export async function* itemsOf<T>(
  api: KubernetesCaller,
  { path, query, schema, pageSize }: List<T>,
  context: CallContext,
): AsyncGenerator<T, void, undefined> {
  const ask = (page: PageQuery) => api.call({ method: "GET", path, query: { ...page, ...query } }, context);
  for await (const { items } of pagesOf(ask, pageSize)) {
    for (const item of items) {
      const { success, output, issues } = v.safeParse(schema, item);
      if (!success) throw new TryAgainError(`${path}: ${v.summarize(issues)}`);
      yield output;
    }
  }
}

type Page = Readonly<{ items: readonly unknown[]; next: string; resourceVersion: string }>;

/** Which page of a list is requested, as the server reads it. */
export type PageQuery = Readonly<{ limit: string; continue?: string }>;

/** The pages of a list, smaller ones when an answer is too long; an error when the server repeats a page. */
export async function* pagesOf(
  ask: (page: PageQuery) => Promise<unknown>,
  pageSize: number,
): AsyncGenerator<Page, void, undefined> {
  const asked = new Set<string>();
  let from = "";
  let limit = pageSize;
  const askUntilShort = async (): Promise<unknown> => {
    try {
      return await ask({ limit: String(limit), ...(from && { continue: from }) });
    } catch (error) {
      if (!(error instanceof TooLongError) || limit === 1) throw error;
      limit = Math.ceil(limit / 2);
      return askUntilShort();
    }
  };
  do {
    if (asked.has(from)) throw new TryAgainError("the list repeats a page for ever");
    asked.add(from);
    const page = readPage(await askUntilShort());
    yield page;
    from = page.next;
  } while (from !== "");
}

function readPage(body: unknown): Page {
  const { items, metadata } = asRecord(body, "the list");
  const listMetadata = asRecord(metadata, "the list's metadata");
  // Another answer must not count as an empty list: the hold would end with its marks still set. Go encodes an empty list as null.
  if (!Array.isArray(items) && items !== null) throw new TryAgainError("the list has no items");
  const text = (name: "continue" | "resourceVersion"): string => {
    const { [name]: value = "" } = listMetadata;
    if (typeof value === "string") return value;
    throw new TryAgainError(`the list's metadata.${name} must be text`);
  };
  return { items: items ?? [], next: text("continue"), resourceVersion: text("resourceVersion") };
}
