import type { PresentHold } from "../../lambda/core/operate/check.ts";
import type { ClusterFindings, KeptNode, Trial } from "../../lambda/core/operate/inspection.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import type { Fields } from "../../lambda/handlers/fields.ts";
import { reading } from "../answers.ts";

export type InsideLink<T> = Readonly<{ works: true }> & T;
export type Broken = Readonly<{ works: false; because: string }>;

/** What the control function saw from inside, as doctor reads it. */
export type Inside = Readonly<{
  version: string;
  at: Date;
  rules: Pick<Rules, "maxHold">;
  record: InsideLink<Readonly<{ holds: readonly PresentHold[]; lastSweep?: Date }>> | Broken;
  launches: InsideLink<Readonly<{ recent: number }>> | Broken;
  cluster: InsideLink<ClusterFindings> | Broken;
}>;

const many = Number.MAX_SAFE_INTEGER;

/** Reads the answer to `check`. */
export const parseInside = (answer: unknown): Inside =>
  reading((fields) => {
    const read = fields.object(answer, "the answer");
    const rules = fields.object(read.rules, "rules");
    return {
      version: fields.text(read.version, "version"),
      at: fields.date(read.at, "at"),
      rules: { maxHold: fields.count(rules.maxHold, "rules.maxHold", many) },
      record: link(fields, read.record, "record", (value) => parseRecord(fields, value)),
      launches: link(fields, read.launches, "launches", (value) => ({
        recent: fields.count(value.recent, "launches.recent", many),
      })),
      cluster: link(fields, read.cluster, "cluster", (value) => parseCluster(fields, value)),
    };
  });

type Read = Readonly<Record<string, unknown>>;

function link<T>(
  fields: Fields,
  value: unknown,
  path: string,
  read: (value: Read) => T,
): InsideLink<T> | Broken {
  const given = fields.object(value, path);
  if (given.works === true) return { works: true, ...read(given) };
  return { works: false, because: typeof given.because === "string" ? given.because : "no reason was given" };
}

function parseRecord(fields: Fields, read: Read) {
  const lastSweep = read.lastSweep ? fields.date(read.lastSweep, "record.lastSweep") : undefined;
  const holds = fields.list(read.holds, "record.holds", (item, path): PresentHold => {
    const hold = fields.object(item, path);
    const armedFor = hold.armedFor ? fields.date(hold.armedFor, `${path}.armedFor`) : undefined;
    return {
      scope: fields.scope(hold.scope, `${path}.scope`) ?? "cluster",
      id: fields.text(hold.id, `${path}.id`),
      state: hold.state === "releasing" ? "releasing" : "held",
      expiresAt: fields.date(hold.expiresAt, `${path}.expiresAt`),
      ...(armedFor && { armedFor }),
    };
  });
  return { holds, ...(lastSweep && { lastSweep }) };
}

function parseCluster(fields: Fields, read: Read): ClusterFindings {
  const texts = (value: unknown, path: string) =>
    fields.list(value, path, (item, at) => fields.text(item, at));
  const kept = (value: unknown, path: string) =>
    fields.list(value, path, (item, at): KeptNode => {
      const node = fields.object(item, at);
      const since = fields.date(node.since, `${at}.since`);
      return {
        node: fields.text(node.node, `${at}.node`),
        since,
        ...(typeof node.by === "string" && { by: node.by }),
      };
    });
  const clusterTime = read.clusterTime ? fields.date(read.clusterTime, "cluster.clusterTime") : undefined;
  return {
    kubernetes: fields.text(read.kubernetes, "cluster.kubernetes"),
    missingRights: texts(read.missingRights, "cluster.missingRights"),
    needlessRights: texts(read.needlessRights, "cluster.needlessRights"),
    foreignChange: trial(read.foreignChange),
    ownChange: trial(read.ownChange),
    nodes: fields.count(read.nodes, "cluster.nodes", many),
    stuck: kept(read.stuck, "cluster.stuck"),
    userHeld: kept(read.userHeld, "cluster.userHeld"),
    ...(typeof read.said === "string" && { said: read.said }),
    ...(clusterTime && { clusterTime }),
  };
}

const trial = (value: unknown): Trial => (value === "admitted" || value === "refused" ? value : "not tried");
