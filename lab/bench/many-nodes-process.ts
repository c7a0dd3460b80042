import { after, seconds } from "../../lambda/core/duration.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import { KubernetesClient } from "../../lambda/kubernetes/client.ts";
import { KubernetesNodes } from "../../lambda/kubernetes/nodes.ts";
import { systemClock } from "../../lambda/system-clock.ts";

const [server = "", authorization = ""] = process.argv.slice(2);
const access = { server, tls: {}, headers: { authorization } };
const api = new KubernetesClient({
  login: { access: async () => access, refresh: () => {} },
  clock: systemClock,
  metrics: { add: () => {} },
});
const nodes = new KubernetesNodes({
  api,
  karpenter: "v1",
  annotation: Karpenter.v1.annotation,
  nodePools: { only: [], except: [] },
  clock: systemClock,
  metrics: { add: () => {} },
});

const reported = { invocations: 0, failed: 0 };
const invocation = () => {
  reported.invocations += 1;
  return { deadline: after(systemClock.now(), seconds(10)), log: console };
};
for (let left = true; left; ) {
  const marked = await nodes.mark({ scope: "cluster", holdId: "20260131t093000-bench0" }, invocation());
  reported.failed += marked.failed;
  left = marked.left;
}
for (let left = true; left; ) {
  const released = await nodes.release("20260131t093000-bench0", invocation());
  reported.failed += released.failed;
  left = released.left;
}
await api.close();
process.send?.({ ...reported, peakMb: process.resourceUsage().maxRSS / 1024 }, () => process.exit(0));
