/** Containers, clusters and clouds. */
import type { CommandSpec, ProgramSpec } from "./option-table.ts";

const RUN: CommandSpec = {
  plain: `-d|--detach -i|--interactive -t|--tty --rm -e|--env= --name= -w|--workdir= -l|--label= -m|--memory= --cpus= --platform= --restart=
    --entrypoint= -h|--hostname= --init --pull= -q|--quiet --read-only --stop-signal= --stop-timeout= --tmpfs= --ulimit= --shm-size= -a|--attach=
    --add-host= --dns= --expose= --health-cmd= --ip= --log-driver= --log-opt= --mac-address= --no-healthcheck --oom-kill-disable --sig-proxy
    --sysctl= --annotation= -c|--cpu-shares= --cap-drop= --link= --detach-keys= --replace --domainname=`,
  reads: "--env-file= --label-file= --volumes-from= --env-host --secret= --rootfs",
  writes: "-v|--volume= --mount= --cidfile= --pidfile= --conmon-pidfile= --volume-driver=",
  starts:
    "--privileged --device= --device-cgroup-rule= --cap-add= --security-opt= --runtime= --hooks-dir= --init-path= --gpus=",
  moves:
    "--pid= --ipc= --uts= --userns= --cgroupns= --cgroup-parent= --group-add= -u|--user= --pod= --use-api-socket",
  connects: "--net|--network= -p|--publish= -P|--publish-all --network-alias=",
  stops: true,
};
const BUILD: CommandSpec = {
  plain:
    "-t|--tag= --target= --no-cache --pull -q|--quiet --platform= --progress= --label= --rm --force-rm --build-arg= --squash --load --cache-from= --layers",
  reads: "-f|--file= --build-context= --secret= --ssh= --env= --ignorefile= --hooks-dir=",
  writes: "-o|--output= --iidfile= --metadata-file= --cache-to= -v|--volume= --logfile=",
  starts: "--allow= --security-opt= --device= --cap-add= --runtime= --builder=",
  connects: "--network= --push --add-host=",
};
const COMPOSE: CommandSpec = {
  plain:
    "-p|--project-name= --profile= --ansi= --progress= --parallel= --compatibility --dry-run --all-resources --verbose --version -v",
  reads: "-f|--file= --env-file=",
  moves: "--project-directory= --workdir= --in-pod= --podman-path= --podman-args=",
  isPersistent: true,
  commands: {
    "up down start stop restart kill pause unpause create rm ps ls logs top events images port version wait watch stats pull push scale attach volumes":
      {},
    config: { writes: "-o|--output= --lock-image-digests" },
    convert: { writes: "-o|--output=" },
    build: BUILD,
    run: {
      ...RUN,
      reads: "--env-from-file=",
      plain:
        "-d|--detach --rm -e|--env= --name= -T|--no-tty --service-ports --no-deps --entrypoint= -w|--workdir= --build -l|--label= -i -P",
    },
    exec: {
      plain: "-d|--detach -e|--env= --index= -T|--no-tty -w|--workdir=",
      starts: "--privileged",
      moves: "-u|--user=",
      stops: true,
    },
    cp: { deed: "writes" },
    "export publish commit": { writes: "-o|--output=" },
  },
};
const DOCKER: Readonly<Record<string, CommandSpec>> = {
  "run create": RUN,
  exec: {
    plain: "-d|--detach -i|--interactive -t|--tty -e|--env= -w|--workdir= --detach-keys=",
    reads: "--env-file=",
    starts: "--privileged",
    moves: "-u|--user=",
    stops: true,
  },
  "build|b": BUILD,
  bake: { reads: "-f|--file= --set= --allow=", writes: "--metadata-file= --load", connects: "--push" },
  "ps|ls|list": {
    plain: "-a|--all -q|--quiet -f|--filter= --format= --no-trunc -n|--last= -l|--latest -s|--size",
  },
  "images history inspect logs top stats diff port version info search events wait start stop restart kill rm rmi pause unpause rename tag pull push attach prune update login logout du imagetools untag unmount mount":
    {},
  commit: { plain: "-a|--author= -c|--change= -m|--message= -p|--pause" },
  cp: { deed: "writes" },
  "save export": { writes: "-o|--output=" },
  "load import": { reads: "-i|--input=" },
  compose: COMPOSE,
  "network volume system manifest node service stack secret config swarm trust pod machine generate play kube healthcheck namespace apparmor ipfs internal scan scout sbom model mcp ai init checkpoint farm quadlet artifact":
    {
      commands: {
        "ls|list inspect rm|remove prune ps logs df info events create connect disconnect annotate push scale rollback update init join leave promote demote unlock start stop kill exists reload migrate renumber reset":
          { reads: "-c|--compose-file= --env-file= -o|--opt=", writes: "--mount= -v|--volume=" },
        "ssh service deploy play down apply generate set dial-stdio connection os cp": { deed: "starts" },
      },
    },
  context: {
    commands: { "ls|list inspect show": {}, "create use update import export rm|remove": { deed: "moves" } },
  },
  plugin: {
    commands: {
      "ls|list inspect": {},
      "install enable disable create push rm|remove set upgrade": { deed: "starts" },
    },
  },
  desktop: { deed: "starts" },
  unshare: { deed: "starts" },
};

const KUBE_GLOBAL: Pick<CommandSpec, "plain" | "reads" | "moves" | "connects" | "starts" | "writes"> = {
  plain: `-n|--namespace= -o|--output= -l|--selector= -A|--all-namespaces --no-headers --show-labels -w|--watch --request-timeout= -v|--v= --vmodule=
    --warnings-as-errors --field-selector= --sort-by= -L= --chunk-size= -h|--help -R|--recursive --dry-run=? --wait --timeout= --grace-period=
    --force --all --cascade=? --ignore-not-found --template= --show-kind --show-managed-fields --output-watch-events --limit= --tail= --since=
    --since-time= -c|--container= -p|--previous --prefix --timestamps --max-log-requests= --replicas= --image= --restart= --overwrite --local --record
    --type= -f|--filename= -k|--kustomize= --log-flush-frequency= --match-server-version --disable-compression`,
  reads:
    "--kubeconfig= --from-file= --from-env-file= --patch-file= --certificate-authority= --client-certificate= --client-key=",
  writes: "--cache-dir= --profile-output= --profile= --output-directory= --log-file= --log-dir=",
  connects:
    "-s|--server= --token= --username= --password= --insecure-skip-tls-verify --tls-server-name= --raw= --proxy-url=",
  moves: "--context= --cluster= --user= --as= --as-group= --as-uid=",
  starts: "--editor=",
};

export const CONTAINERS: readonly ProgramSpec[] = [
  {
    names: "docker podman nerdctl",
    plain:
      "-D|--debug -l|--log-level= -v|--version --help --tls --tlsverify --noout --syslog -n|--namespace=",
    reads:
      "--config= --tlscacert= --tlscert= --tlskey= --conmon= --hooks-dir= --module= --network-config-dir= --identity=",
    starts: "--runtime= --runtime-flag= --network-cmd-path= --volumepath=",
    moves:
      "-H|--host= -c|--context= -r|--remote --url= --connection= --root= --runroot= --storage-driver= --storage-opt= --cgroup-manager= --tmpdir= --imagestore= -a|--address= --data-root= --cni-path= --cni-netconfpath= --ssh=",
    skips: /^(?:container|image|buildx|builder)$/,
    isClosed: true,
    commands: DOCKER,
  },
  { names: "docker-compose podman-compose", ...COMPOSE },
  {
    names: "buildah skopeo ctr crictl runc crun",
    plain: "--debug --log-level= -h|--help -v|--version -n|--namespace=",
    reads: "--authfile= --registries-conf= --policy= -c|--config= --env-file= -f|--file=",
    writes: "-v|--volume= --mount= --root= --runroot= -o= --output= --log= --pid-file=",
    starts:
      "--privileged --device= --cap-add= --runtime= --hooks-dir= --isolation= --runtime-flag= --console-socket=",
    connects: "--dest-creds= --src-creds= --network=",
    moves: "-a|--address= -r|--runtime-endpoint= -i|--image-endpoint=",
    isPersistent: true,
  },
  {
    names: "kubectl oc k3s k9s microk8s minikube kind",
    ...KUBE_GLOBAL,
    isPersistent: true,
    isClosed: true,
    commands: {
      "get describe logs top explain api-resources api-versions version wait events diff auth certificate completion create expose run delete apply replace patch scale autoscale label annotate set rollout taint drain cordon uncordon options status whoami project projects login logout new-app start stop service addons dashboard image load build node profile tunnel ip":
        {},
      "cluster-info": { commands: { dump: {} } },
      exec: { plain: "-i|--stdin -t|--tty -c|--container= -q|--quiet", deed: "starts", stops: true },
      "edit debug attach plugin rsh rsync ssh kubectl ctr": { deed: "starts" },
      cp: { deed: "writes" },
      "port-forward proxy": { deed: "connects" },
      kustomize: {
        starts: "--enable-exec --enable-alpha-plugins --enable-helm --helm-command=",
        writes: "-o|--output=",
        reads: "--load-restrictor= -e|--env=",
      },
      config: {
        commands: {
          "view current-context get-contexts get-clusters get-users": {},
          "use-context use set unset set-context set-cluster set-credentials delete-context delete-cluster delete-user rename-context":
            { deed: "moves" },
        },
      },
    },
  },
  {
    names: "helm",
    plain:
      "-n|--namespace= --debug -o|--output= -h|--help -A|--all-namespaces --version= --wait --timeout= --dry-run=? --atomic -i|--install --create-namespace --devel --burst-limit= --qps= --set= --set-string= --set-json= --set-literal= -f|--values= --set-file= -g --generate-name --description= --force --no-hooks --skip-crds --reuse-values --reset-values --history-max= -l|--selector= -a|--all -q|--short -m|--max= --kube-version= --validate --is-upgrade -s|--show-only=",
    starts: "--post-renderer= --post-renderer-args= --kube-insecure-skip-tls-verify",
    reads:
      "--kubeconfig= --repository-config= --registry-config= --keyring= --ca-file= --cert-file= --key-file= --kube-ca-file= --password-stdin",
    writes: "-d|--destination= --output-dir= --untardir= --repository-cache= --log-file=",
    connects:
      "--repo= --kube-apiserver= --kube-token= --username= --password= --plain-http --insecure-skip-tls-verify --kube-tls-server-name=",
    moves: "--kube-context= --kube-as-user= --kube-as-group=",
    isPersistent: true,
    isClosed: true,
    commands: {
      "install upgrade uninstall|un|delete|del list|ls status history|hist rollback get show|inspect template lint test search env version verify create completion package pull|fetch push":
        {},
      "dependency|dep|dependencies": { commands: { "list|ls build update|up": {} } },
      repo: { commands: { "list|ls update|up index": {}, "add remove|rm": { deed: "connects" } } },
      registry: { commands: { "login logout": { deed: "connects" } } },
      plugin: {
        commands: { "list|ls": {}, "install add update|up uninstall remove|rm": { deed: "starts" } },
      },
    },
  },
  {
    names: "kustomize",
    starts:
      "--enable-exec --enable-alpha-plugins --enable-helm --helm-command= --mount= --network --network-name=",
    writes: "-o|--output=",
    reads: "-e|--env= --load-restrictor= --stack-trace",
    isPersistent: true,
    commands: { "build create edit cfg fn version localize openapi": {} },
  },
  {
    names: "kubectx kubens stern flux argocd istioctl linkerd skaffold tilt k3d eksctl velero",
    plain: "-n|--namespace= -h|--help -v -o|--output=",
    reads: "--kubeconfig= -f|--filename= --config=",
    moves: "--context= --server= --kube-context= --cluster=",
    writes: "--output-file= --export= --render-to=",
    starts: "--build-env= --shell=",
    isPersistent: true,
  },
  {
    names: "terraform tofu terragrunt",
    style: "word",
    plain:
      "-help -version -no-color -json -input= -lock= -lock-timeout= -auto-approve -refresh= -refresh-only -target= -replace= -var= -parallelism= -compact-warnings -detailed-exitcode -destroy -upgrade -reconfigure -migrate-state -get= -check -diff -recursive -list= -write= -raw -backend= -var-file=",
    reads:
      "-state= -backend-config= -from-module= -plugin-dir= -config= -generate-config-out= --terragrunt-config=",
    writes: "-out= -state-out= -backup= -write-lock-file= -cpuprofile=",
    moves: "-chdir= --terragrunt-working-dir= --working-dir=",
    starts: "--terragrunt-tfpath= --tf-path= --terragrunt-download-dir=",
    isPersistent: true,
    commands: {
      "init plan apply destroy validate fmt show output refresh import taint untaint graph providers get version console test login logout force-unlock modules metadata run run-all hclfmt stack":
        {},
      state: { commands: { "list show pull mv rm push replace-provider": {} } },
      workspace: { commands: { "list show select new delete": {} } },
    },
  },
  {
    names: "packer vagrant pulumi cdk cdktf sst serverless sls",
    plain: "-h|--help -v|--version -y|--yes --verbose -d|--debug",
    starts: "-c|--command= -a|--app= --exec-agent= --exec-kind= --on-error= --build= --plugin=",
    reads: "-var-file= --var-file= --config= --config-file= --param=",
    writes: "-o|--output= --outputs-file= --machine-readable --save-plan= --event-log=",
    moves: "-C|--cwd= --profile= --stage= --stack=",
    isPersistent: true,
  },
  {
    names: "aws",
    plain:
      "--debug --no-paginate --output= --query= --no-sign-request --no-cli-pager --color= --cli-read-timeout= --cli-connect-timeout= --no-cli-auto-prompt --version --region= --recursive --dryrun --include= --exclude= --acl= --quiet --only-show-errors --delete --human-readable --summarize --max-items= --page-size= --starting-token=",
    reads:
      "--cli-input-json= --cli-input-yaml= --template-file= --zip-file= --body= --ca-bundle= --parameters=",
    connects: "--endpoint-url= --no-verify-ssl",
    moves: "--profile=",
    starts: "--cli-auto-prompt",
    isPersistent: true,
    commands: {
      s3: { commands: { "ls cp mv rm sync mb rb presign website": {} } },
      configure: {
        commands: {
          "list list-profiles get": {},
          "set import sso sso-session add-model export-credentials": { deed: "writes" },
        },
      },
    },
  },
  {
    names: "gcloud gsutil bq",
    plain:
      "-q|--quiet --format= --verbosity= --region= --zone= --filter= --limit= --log-http -h|--help --help --no-user-output-enabled -m -D -o= --billing-project= --page-size= --sort-by=",
    reads:
      "--flags-file= --configuration= --access-token-file= --command= --ssh-flag= --metadata-from-file= --env-vars-file= --source=",
    starts: "--ssh-key-file= --strict-host-key-checking=",
    moves: "--account= --project= --impersonate-service-account=",
    isPersistent: true,
    skips: /^(?:alpha|beta|preview)$/,
  },
  {
    names:
      "az doctl heroku flyctl fly vercel netlify wrangler railway firebase supabase linode-cli hcloud scw oci ibmcloud cf eb sam amplify openstack",
    plain: "-h|--help -v|--version -y|--yes --verbose --debug --json -q|--quiet",
    reads:
      "-c|--config= --local-config= -A= --env-file= --dockerfile= --template-file= -t= --parameters= --params-file=",
    writes: "-o= --output-dir= --out-file= --outfile=",
    connects: "-t|--token= --access-token= --auth= --api-url= --api=",
    moves: "--cwd= --subscription= --scope= -S= --context= --profile= --project= -a|--app= --site= --team=",
    starts: "--exec= --build-command= --command= -C= --use-container",
    isPersistent: true,
  },
  {
    names:
      "ansible ansible-playbook ansible-vault ansible-galaxy ansible-inventory ansible-pull ansible-console ansible-doc",
    plain:
      "-v|--verbose -C|--check -D|--diff -l|--limit= -t|--tags= --skip-tags= -f|--forks= --list-hosts --list-tasks --list-tags --syntax-check --version -h|--help -k -K --flush-cache --force-handlers --start-at-task= --step -o|--one-line -T|--timeout=",
    starts:
      "-a|--args= -m|--module-name= -e|--extra-vars= --ssh-common-args= --sftp-extra-args= --scp-extra-args= --ssh-extra-args= -c|--connection= -b|--become --become-method= -B|--background= --ask-become-pass -u|--user= --become-user= --playbook-dir= -U|--url=",
    reads:
      "-i|--inventory= --inventory-file= --vault-password-file= --vault-pass-file= --vault-id= -M|--module-path= --private-key|--key-file= --become-password-file= --connection-password-file= --become-pass-file= --conn-pass-file= -p|--roles-path= --api-key= -s= --token=",
    writes: "--output= -d= --directory= --export",
  },
  {
    names: "salt salt-call salt-ssh puppet chef-client knife nomad consul vault",
    plain: "-h|--help --version -v",
    starts: "-e|--execute= -exec=",
    reads: "-c|--config-dir= --config= -E= --confdir= --modulepath= -config= -config-file=",
    writes: "--out-file= -log-file= --logdest=",
    moves: "-address= --file-root= --pillar-root= -ca-cert= -namespace= --local",
    isPersistent: true,
  },
  {
    names:
      "virsh virt-install qemu-system-x86_64 qemu-img lxc lxd incus multipass vboxmanage VBoxManage limactl colima",
    plain: "-q|--quiet -h|--help",
    starts: "--initrd-inject= -S -s -gdb= -plugin= --init= -chroot=",
    reads: "--config= -readconfig= -F= --project=",
    writes: "-l|--log= -serial= -monitor= -qmp= -chardev= -pidfile= -D=",
    moves: "-c|--connect= --remote= -drive= -hda= -cdrom= -kernel= -fsdev= -virtfs=",
    connects: "-net= -netdev= -vnc= -spice=",
    isPersistent: true,
  },
];
