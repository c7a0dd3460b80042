/** What the documents tell operators to type, for a cluster called prod: each is typed in documents.suite.ts, word by word. */
export const documented = {
  bootstrap: "npx cdk bootstrap -c cluster=prod",
  deploy: "npx cdk deploy -c cluster=prod",
  deployWithSettings: "npx cdk deploy -c cluster=prod -c hold=30m -c maxHold=4h",
  destroy: "npx cdk destroy -c cluster=prod",

  help: "npx karpenter-node-holder --help",
  status: "npx karpenter-node-holder status --cluster prod",
  release: "npx karpenter-node-holder release --force --cluster prod",
  pause: 'npx karpenter-node-holder pause --for 2h --reason "Ada replaces every node" --cluster prod',
  resume: "npx karpenter-node-holder resume --cluster prod",
  doctor: "npx karpenter-node-holder doctor --cluster prod",
  mend: "npx karpenter-node-holder doctor --fix --cluster prod",
  advise: "npx karpenter-node-holder advise --cluster prod",
  manifest: "npx karpenter-node-holder manifest",
  run: "npx karpenter-node-holder run --kubeconfig ~/.kube/config --hold 20m",
  tryRun: "npx karpenter-node-holder run --kubeconfig ~/.kube/config --release-on-exit",

  applyManifest: "npx karpenter-node-holder manifest | kubectl apply -f -",
  whoIsHeld: "kubectl get nodes -L karpenter-node-holder/hold",
  whoIsForeign:
    "kubectl get nodes -l '!karpenter-node-holder/hold' -o custom-columns='NODE:.metadata.name,KEPT:.metadata.annotations.karpenter\\.sh/do-not-disrupt'",
  annotationOff:
    "kubectl annotate nodes -l 'karpenter-node-holder/hold,karpenter-node-holder/hold!=never' karpenter.sh/do-not-disrupt-",
  labelOff:
    "kubectl label nodes -l 'karpenter-node-holder/hold,karpenter-node-holder/hold!=never' karpenter-node-holder/hold-",
  accessOff:
    "kubectl delete clusterrole,clusterrolebinding,validatingadmissionpolicy,validatingadmissionpolicybinding karpenter-node-holder",
} as const;
