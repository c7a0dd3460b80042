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

/**
 * The scripts that the documents tell developers to run, as each suite types them: smaller where the whole takes too long, and into
 * $INTO where they would write among the documents.
 */
export const scripted = {
  commands: {
    story: "npm start -- --fast",
    serve: "npm start -- --serve --hold 1m --launch-every 0s",
    cost: 'npm run cost -- --into "$INTO"',
    truthTable: "npm run truth-table",
    torture: "npm run torture -- --runs 300 --seed 42",
    goodDays: "npm run torture -- --runs 300 --seed 42 --good-day",
    replay: "npm run torture -- --seed 42 --path 12:0:3",
    mutate: 'npm run mutate -- "the sweep sets no lost one-shot again"',
    fuzz: "FUZZ_TIMES=2 FUZZ_SEED=7 npx vitest run test/fuzz/watch.test.ts",
    suites: "npm run test:real -- --help",
    ownCluster: 'KUBECONFIG="$CLUSTER" KNH_YES=1 npm run test:real -- contracts',
    bench: 'npm run bench -- --quick --write --into "$INTO"',
  },
  churn: {
    real: "npm start -- --real",
    lab: 'npm run churn -- --minutes 3 --scale 7s --hold 9m --seed 8 --into "$INTO"',
    draw: 'npm run churn -- --draw --into "$INTO"',
  },
} as const;

/** What `.ci/run` types before and beside the suites. */
export const typedByCi = ["npm ci", "npm test", "npm run test:real"] as const;
