import { describe } from "vitest";
import { memoryNodesWorld } from "../support/memory-nodes-world.ts";
import { nodesContract } from "./nodes.ts";

describe("nodes in memory", () => nodesContract(memoryNodesWorld));
