import type { CallContext, Pods, Unavailable } from "../core/ports.ts";
import type { Bound } from "../core/room.ts";
import type { KubernetesCaller } from "./client.ts";
import { isStatus } from "./error.ts";
import { itemsOf } from "./lists.ts";
import { isShort, reducePod } from "./pod-needs.ts";
import { type Budget, budgetSchema, podSchema } from "./pod-objects.ts";

export type KubernetesPodsOptions = Readonly<{ api: KubernetesCaller; pageSize?: number }>;

const podsPath = "/api/v1/pods";
const budgetsPath = "/apis/policy/v1/poddisruptionbudgets";
const bound = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed";

const anyPod = { matchLabels: {}, matchExpressions: [] };

const noRight: Unavailable = {
  unavailable:
    "the holder may not list pods and PodDisruptionBudgets, so hold=auto holds like a constant hold; the manifest for hold=auto has this right",
  isMissingRight: true,
};

/** Reads the pods that are on nodes, and reduces each to what decisions need. */
export class KubernetesPods implements Pods {
  readonly #options: KubernetesPodsOptions;

  constructor(options: KubernetesPodsOptions) {
    this.#options = options;
  }

  list(context: CallContext): Promise<readonly Bound[] | Unavailable> {
    const { api, pageSize = 500 } = this.#options;
    const budgets = { path: budgetsPath, schema: budgetSchema, pageSize };
    const boundPods = { path: podsPath, query: { fieldSelector: bound }, schema: podSchema, pageSize };
    return unlessRefused(async () => {
      const full: Budget[] = [];
      for await (const budget of itemsOf(api, budgets, context))
        if (budget.status.disruptionsAllowed === 0)
          full.push(isShort(budget.spec) ? budget : { ...budget, spec: { selector: anyPod } });
      const pods: Bound[] = [];
      for await (const pod of itemsOf(api, boundPods, context)) pods.push(reducePod(pod, full));
      return pods;
    });
  }

  async limits(context: CallContext): Promise<readonly string[]> {
    const found = await unlessRefused(async () => {
      for (const path of [podsPath, budgetsPath])
        await this.#options.api.call({ method: "GET", path, query: { limit: "1" } }, context);
    });
    return found === undefined ? [] : [noRight.unavailable];
  }
}

async function unlessRefused<T>(work: () => Promise<T>): Promise<T | Unavailable> {
  try {
    return await work();
  } catch (error) {
    if (isStatus(error, 403)) return noRight;
    throw error;
  }
}
