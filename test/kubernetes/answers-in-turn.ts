import type { KubernetesCall } from "../../lambda/kubernetes/client.ts";

/** A server with these answers in turn, the last one for ever; errors are thrown. It keeps the calls. */
export function answersInTurn(answers: readonly unknown[]) {
  const calls: KubernetesCall[] = [];
  const call = async (asked: KubernetesCall) => {
    const answer = answers[Math.min(calls.push(asked), answers.length) - 1];
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { api: { call }, calls };
}
