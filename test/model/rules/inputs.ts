import { type Duration, hours, minutes } from "../../../lambda/core/duration.ts";
import type { RequestCause } from "../../../lambda/core/record.ts";
import type { Scope } from "../../../lambda/core/scope.ts";
import type { Invocation } from "../../../simulator/invocation.ts";

/** What an operator asked an invocation for. */
export type Asked = Readonly<{
  do: "hold" | "release" | "pause" | "resume";
  scope: Scope;
  /** A request's name; a release without one ends everything. */
  name?: string;
  for?: Duration;
  askedAt?: Date;
}>;

/** A wish to hold that an invocation was given. */
export type Wish = Readonly<{ name: string; cause: RequestCause; scope: Scope; for: Duration; at?: Date }>;

type Fields = Readonly<Record<string, string | undefined>>;

export const lengthOf = (text: string): Duration =>
  (text.endsWith("h") ? hours(1) : minutes(1)) * Number.parseInt(text, 10);

/** Reads what the model asks for; a NodePool's scope must be named where the settings hold by NodePool. */
export function askedOf({ name, input, settings }: Invocation): Asked | undefined {
  const fields = (input ?? {}) as Fields;
  const scope = (fields.scope ?? "cluster") as Scope;
  const askedAt = fields.askedAt === undefined ? {} : { askedAt: new Date(fields.askedAt) };
  if (name === "release") return fields.force ? { do: "release", scope, ...askedAt } : undefined;
  if (name !== "control") return undefined;
  const length = fields.for ?? (fields.do === "hold" ? `${settings.hold / minutes(1)}m` : undefined);
  const request = fields.name ?? (fields.do === "hold" ? "by-hand" : undefined);
  return {
    do: fields.do as Asked["do"],
    scope,
    ...(request !== undefined && { name: request }),
    ...(length !== undefined && { for: lengthOf(length) }),
  };
}

const bodiesOf = ({ messages }: Invocation) => messages.map(({ body }) => JSON.parse(body));

/** Everything that an invocation was asked to hold for. */
export function wishesOf(invocation: Invocation): readonly Wish[] {
  const asked = askedOf(invocation);
  if (asked?.do === "hold") {
    const { name = "", scope, for: length = 0 } = asked;
    return [{ name, cause: "person", scope, for: length }];
  }
  return bodiesOf(invocation).flatMap(({ hold }) =>
    hold ? [{ ...hold, for: lengthOf(hold.for), at: new Date(hold.at) }] : [],
  );
}

/** The launches that an invocation was given: by events, or by messages that come again. */
export function launchesOf(invocation: Invocation): ReadonlySet<string> {
  return new Set(
    bodiesOf(invocation).flatMap(({ detail, followUp }): string[] => {
      if (detail?.["instance-id"]) return [detail["instance-id"]];
      return (followUp?.launches ?? []).map(({ instance }: { instance: string }) => instance);
    }),
  );
}

/** The scopes that an invocation looks at whatever else it is given; all: a sweep. */
export function scopesOf(invocation: Invocation): readonly Scope[] | "all" {
  if (invocation.name === "sweep") return "all";
  if (invocation.name === "release") {
    const { scope, force } = invocation.input as { scope: Scope; force?: true };
    return force ? [] : [scope];
  }
  return bodiesOf(invocation).flatMap(({ followUp }) => (followUp?.kind === "scope" ? [followUp.scope] : []));
}
