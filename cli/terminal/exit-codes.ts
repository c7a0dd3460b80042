/** How a command ended: success, failure, or wrong usage. */
export const Exit = { done: 0, failed: 1, usage: 2 } as const;
export type Exit = (typeof Exit)[keyof typeof Exit];
