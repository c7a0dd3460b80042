import { describe, expect, it } from "vitest";
import type { Template } from "../../cli/template/fill-in.ts";
import { keptCluster } from "../../scripts/keep-template.ts";
import { synthesizeStack } from "../../scripts/templates.ts";
import { readKeptTemplates } from "./kept-templates.ts";

const present: Template = synthesizeStack({ cluster: keptCluster }).template;
const nameOf = ["FunctionName", "LogGroupName", "AlarmName", "DashboardName", "Name"] as const;

/**
 * The logical id of everything with a fixed name, by type and name. What is frozen from version to version: under which
 * id a name is, and the ids of what stores something. Names may come and go; that each is of one cluster is a test of
 * the options.
 */
const namedIn = ({ Resources }: Template): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(Resources).flatMap(([id, { Type, Properties }]) =>
      nameOf
        .map((key) => Object(Properties)[key])
        .filter((name) => typeof name === "string")
        .map((name) => [`${Type} ${name}`, id] as const),
    ),
  );

const storing = ["AWS::DynamoDB::Table", "AWS::SQS::Queue"];

describe.each(readKeptTemplates())("an update of version $version", ({ template }) => {
  // CloudFormation creates a resource under its new id before it deletes the old one, and fails: the name is taken.
  it("finds every name under the id that it had", () => {
    const ids = namedIn(present);
    const moved = [...namedIn(template)].filter(([name, id]) => (ids.get(name) ?? id) !== id);
    expect(namedIn(template).size).toBeGreaterThan(20);
    expect(moved).toEqual([]);
  });

  it("keeps the record and the messages in the queues", () => {
    const stores = Object.entries(template.Resources).filter(([, { Type }]) => storing.includes(Type));
    expect(stores.length).toBeGreaterThan(4);
    expect(stores.map(([id]) => id).filter((id) => !(id in present.Resources))).toEqual([]);
  });
});
