import { setTimeout as sleep } from "node:timers/promises";
import {
  type ApiConstructor,
  type ApiType,
  type Configuration,
  KubeConfig,
  type RequestContext,
  wrapHttpLibrary,
} from "@kubernetes/client-node";

const attempts = 5;
const pauseMs = 2_000;
/** The client's own ten seconds are over before a handshake is where a busy machine stands still. */
const connectsWithin = 60_000;

/** A kubeconfig whose clients wait for a busy API server, and repeat what found no answer and may be done twice. */
export class PatientConfig extends KubeConfig {
  override createDispatcherOptions(...about: Parameters<KubeConfig["createDispatcherOptions"]>) {
    const options = super.createDispatcherOptions(...about);
    if (options.type !== "agent") return options;
    return { ...options, connect: { ...options.connect, timeout: connectsWithin } };
  }

  override makeApiClient<T extends ApiType>(type: ApiConstructor<T>): T {
    const patient = class {
      constructor(configuration: Configuration) {
        // biome-ignore lint/correctness/noConstructorReturn: the client that was asked for, with another way to send.
        return new type({ ...configuration, httpApi: patiently(configuration) });
      }
    };
    return super.makeApiClient(patient as unknown as ApiConstructor<T>);
  }
}

const patiently = ({ httpApi }: Configuration) => {
  let connections: ReturnType<RequestContext["getDispatcher"]>;
  const send = async (request: RequestContext) => {
    // The client would connect anew for each request.
    connections ??= request.getDispatcher();
    if (connections) request.setDispatcher(connections);
    for (let attempt = 1; ; attempt++) {
      try {
        return await httpApi.send(request).toPromise();
      } catch (error) {
        if (attempt === attempts || !["GET", "PATCH"].includes(request.getHttpMethod())) throw error;
        await sleep(pauseMs);
      }
    }
  };
  return wrapHttpLibrary({ send });
};
