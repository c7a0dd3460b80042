/** How a command ended: done, failed, or asked for in a way it does not understand. */
export const Exit = { done: 0, failed: 1, usage: 2 } as const;
export type Exit = (typeof Exit)[keyof typeof Exit];
