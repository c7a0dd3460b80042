/** A key with a prefix, as Kubernetes names annotations of tools: example.com/keep. Nothing in it needs an escape anywhere. */
export const annotationKey =
  /^(?=.{1,253}\/)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

export const isAnnotationKey = (text: string): boolean => annotationKey.test(text);
