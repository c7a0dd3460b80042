/** The API server's refusal; what it means depends on what was asked. */
export class KubernetesError extends Error {
  readonly status: number;

  constructor(status: number, call: string, said: string) {
    super(`${call} was answered with ${status}: ${said}`);
    this.name = "KubernetesError";
    this.status = status;
  }
}

/** Whether the API server answered with one of these statuses. */
export const isStatus = (error: unknown, ...statuses: readonly number[]): error is KubernetesError =>
  error instanceof KubernetesError && statuses.includes(error.status);
