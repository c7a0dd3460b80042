import type { KubernetesCall } from "../../lambda/kubernetes/client.ts";

/** A server that answers so. It keeps the calls. */
export function answering(answer: (call: KubernetesCall) => unknown) {
  const calls: KubernetesCall[] = [];
  const call = async (asked: KubernetesCall) => {
    calls.push(asked);
    return answer(asked);
  };
  return { api: { call }, calls };
}

/** A server with these answers in turn, the last one for ever; errors are thrown. */
export function answersInTurn(answers: readonly unknown[]) {
  let given = 0;
  return answering(() => {
    const answer = answers[Math.min(given++, answers.length - 1)];
    if (answer instanceof Error) throw answer;
    return answer;
  });
}
