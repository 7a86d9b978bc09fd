/** Package managers of languages and of systems. */
import type { ProgramSpec } from "./option-table.ts";

const NODE_COMMANDS = {
  "install|i|in|ins|inst|insta|instal|isnt|isnta|isntal|isntall|add": {},
  "ci|clean-install|ic|install-clean|isntall-clean": {},
  "uninstall|un|unlink|remove|rm|r": {},
  "test|t|tst": {},
  "run|run-script|rum|urn": {},
  "publish|pub": {},
  "update|up|upgrade|udpate": {},
  "list|ls|la|ll": {},
  "view|v|info|show": {},
  "link|ln": {},
  "login|adduser|add-user": {},
  "version|verison": {},
  "search|s|se|find": {},
  "init|create|innit": {},
  "dist-tag|dist-tags": {},
  "owner|author": {},
  "install-test|it": {},
  "install-ci-test|cit|sit|clean-install-test": {},
  "dedupe|ddp": {},
  "explain|why": {},
  "rebuild|rb": {},
  "docs|home": { deed: "starts" },
  "bugs|issues repo": { deed: "starts" },
  "access audit cache completion deprecate diff doctor fund get help hook logout org|ogr outdated pack ping pkg prefix profile prune query restart root sbom shrinkwrap star stars start stop team token undeprecate unpublish unstar whoami":
    {},
  "exec|x": { starts: "-c|--call=", plain: "-p|--package= -w|--workspace= -y|--yes --no", stops: true },
  "explore edit": { deed: "starts" },
  set: { deed: "writes" },
  "config|c": { commands: { "get list|ls": {}, "set delete rm edit fix": { deed: "writes" } } },
} as const;

export const PACKAGES: readonly ProgramSpec[] = [
  {
    names: "npm",
    plain: `-w|--workspace= --workspaces --ws -s|--silent -q|--quiet -d|--dd|--ddd|--verbose --loglevel= -g|--global -D|--save-dev -S|--save
      -P|--save-prod -O|--save-optional -E|--save-exact --no-save -f|--force -y|--yes -n|--no --dry-run --json --long -l --production --omit=
      --include= --if-present --ignore-scripts --no-audit --no-fund --audit --fund --access= --tag= --otp= --depth= --all -a --legacy-peer-deps
      --strict-peer-deps --prefer-offline --prefer-online --offline --parseable -p --color= --no-color --progress --no-progress
      --include-workspace-root --package-lock-only --no-package-lock --foreground-scripts --provenance --scope= --save-peer --no-optional
      --engine-strict -v|--version -h|--help|--usage --description --no-description --silent --audit-level= --install-strategy= --global-style
      --omit= --no-bin-links --prefer-dedupe --location= --read-only --heading= --timing --unicode --usage --user-agent= --verbose --version
      --versions --viewer-off --which= --yes --save-bundle -B --save-exact --save-prefix= --sign-git-commit --sign-git-tag`,
    starts: "--script-shell= --node-options= --git= --editor= --viewer= --browser= --call= --shell= -c=",
    reads: "--globalconfig= --userconfig= --init-module= --cafile= --cert= --key=",
    writes: "--logs-dir= --pack-destination= --cache=",
    connects: "--registry= --proxy= --https-proxy= --http-proxy= --noproxy=",
    moves: "-C|--prefix= --local-prefix= --dir= --cwd=",
    isPersistent: true,
    abbreviates: true,
    commands: NODE_COMMANDS,
  },
  {
    names: "pnpm",
    plain: `-r|--recursive -F|--filter= -w|--workspace-root -D|--save-dev -P|--save-prod -O|--save-optional -E|--save-exact -g|--global -s|--silent
      --reporter= --loglevel= --color --no-color --frozen-lockfile --no-frozen-lockfile --prefer-offline --offline --ignore-scripts --json --long
      --depth= --parallel --stream --aggregate-output --bail --no-bail --if-present --workspace-concurrency= --filter-prod= --fail-if-no-match
      -h|--help -v|--version --prod --dev --no-optional --force --lockfile-only --recursive --report-summary --resume-from= --sort --no-sort --use-stderr`,
    starts: "--script-shell= --node-options= --shell-mode -c --pnpmfile= --global-pnpmfile=",
    reads: "--userconfig= --globalconfig= --config=",
    writes:
      "--store-dir= --modules-dir= --virtual-store-dir= --lockfile-dir= --global-dir= --global-bin-dir= --state-dir= --cache-dir=",
    connects: "--registry=",
    moves: "-C|--dir= --prefix= --workspace-dir=",
    isPersistent: true,
    commands: {
      ...NODE_COMMANDS,
      "dlx import fetch store licenses setup env deploy patch approve-builds recursive|multi|m server bin":
        {},
    },
  },
  {
    names: "yarn yarnpkg",
    plain: `--json --silent -s --verbose --no-progress --non-interactive --offline --prefer-offline --frozen-lockfile --immutable --production
      --prod --ignore-scripts --force --flat --har --no-lockfile --pure-lockfile -h|--help -v|--version -D|--dev -P|--peer -O|--optional -E|--exact
      -W|--ignore-workspace-root-check --mutex= --network-timeout= --check-files --ignore-engines --ignore-optional --ignore-platform --emoji=
      --no-emoji --no-bin-links --access= --tag= --latest`,
    starts: "--use-yarnrc= --inspect --inspect-brk",
    reads: "--rc-file=",
    writes:
      "--cache-folder= --modules-folder= --global-folder= --link-folder= --preferred-cache-folder= --out= -o=",
    connects: "--registry= --proxy= --https-proxy=",
    moves: "--cwd=",
    isPersistent: true,
    skips: /^(?:npm|global|workspace|workspaces)$/,
    commands: {
      ...NODE_COMMANDS,
      "dlx foreach plugin constraints patch policies import check autoclean licenses bin node stage": {},
    },
  },
  {
    names: "bun bunx",
    plain:
      "--silent -b|--bun --watch --hot --smol -i --no-install --if-present -h|--help -v|--version -d|--dev --production --frozen-lockfile --filter= -F=",
    starts: "-e|--eval= -p|--print= -r|--preload|--require|--import= --inspect=? --inspect-brk=? --shell=",
    reads: "-c|--config=? --env-file= --tsconfig-override= --define= -d=",
    writes: "--outdir= --outfile= --cpu-prof-dir= --cache-dir=",
    moves: "--cwd=",
    isPersistent: true,
    commands: { ...NODE_COMMANDS, "build pm patch": {} },
  },
  {
    names: "npx pnpx",
    plain: "-p|--package= -y|--yes --no -w|--workspace= -q|--quiet",
    starts: "-c|--call= --shell= --node-options= --script-shell=",
    moves: "-C|--prefix= --userconfig=",
    stops: true,
  },
  {
    names: "corepack volta fnm nvm n nodenv",
    plain: "-h|--help -v|--version --quiet --verbose",
    moves: "--cwd= --install-directory= --fnm-dir= --node-dist-mirror=",
    commands: {
      "enable disable prepare pack use up hydrate install pin list|ls which env default uninstall alias current exec run":
        {},
    },
  },
  {
    names: "pip pip2 pip3 pipx",
    plain: `-q|--quiet -v|--verbose -V|--version -h|--help --no-input --retries= --timeout= --exists-action= --disable-pip-version-check
      --no-color --no-cache-dir --isolated --require-virtualenv --use-feature= --use-deprecated= -U|--upgrade --user --pre --no-deps
      --force-reinstall -I|--ignore-installed --no-build-isolation --only-binary= --no-binary= --prefer-binary --dry-run --upgrade-strategy=
      -y|--yes --format= -o|--outdated -l|--local -f|--files --not-required --no-index --require-hashes --progress-bar= --all --compile --no-compile -r|--requirement= -c|--constraint= -e|--editable=`,
    reads: "--config-settings=? -C= --find-links= --global-option= --build-option= --config-setting=",
    writes: "-t|--target= --prefix= --root= --src= --log= --report= -d|--dest= -w|--wheel-dir= --cache-dir=",
    connects:
      "-i|--index-url= --extra-index-url= --proxy= --trusted-host= --cert= --client-cert= --keyring-provider=",
    starts: "--python=",
    isPersistent: true,
    commands: {
      "install download uninstall freeze inspect list show check cache index wheel hash completion debug help inject upgrade reinstall ensurepath environment run runpip lock":
        {},
      config: { commands: { "list get debug": {}, "set unset edit": { deed: "writes" } } },
    },
  },
  {
    names: "uv uvx",
    plain:
      "-q|--quiet -v|--verbose --color= --no-progress --offline -n|--no-cache --no-config -h|--help -V|--version --frozen --locked --no-sync --native-tls --isolated --no-dev --dev --all-extras --extra= --group= --all-groups --no-default-groups --reinstall --upgrade -U",
    starts:
      "-p|--python= -w|--with= --with-editable= --with-requirements= -m|--module -s|--script --gui-script --from=",
    reads:
      "--config-file= --env-file= -r|--requirements= -c|--constraints= --overrides= -C|--config-setting= -e|--editable=",
    writes: "--cache-dir= --target= --prefix= -o|--output-file= --out-dir= --install-dir=",
    connects:
      "--index= --default-index= --index-url= -i= --extra-index-url= --find-links= -f= --allow-insecure-host= --publish-url=",
    moves: "--directory= --project= --package=",
    isPersistent: true,
    commands: {
      run: { stops: true, plain: "--no-project --active --exact" },
      tool: { commands: { "run install upgrade list uninstall update-shell dir": {} } },
      pip: { commands: { "install uninstall freeze list show check compile sync tree": {} } },
      python: { commands: { "list install find pin dir uninstall upgrade": {} } },
      cache: { commands: { "clean prune dir": {} } },
      "init add remove sync lock export tree venv build publish self version help auth format": {},
    },
  },
  {
    names: "poetry pdm hatch pipenv rye",
    plain:
      "-q|--quiet -v|--verbose --ansi --no-ansi -n|--no-interaction -h|--help -V|--version --no-plugins --no-cache --dev --no-dev",
    starts: "--python= -p=",
    reads: "-r|--requirements= -c|--config=",
    moves: "-C|--directory= -P|--project= --pypi-mirror=",
    isPersistent: true,
    commands: {
      run: { stops: true },
      "install add remove update lock publish build show check init new export search shell env config cache self source version sync use uninstall graph clean test fmt dep python plugin venv fix list info outdated":
        {},
    },
  },
  {
    names: "conda mamba micromamba",
    plain: "-q|--quiet -v|--verbose -y|--yes --json -d|--dry-run -h|--help -V|--version --offline",
    writes: "-p|--prefix= --root-prefix= -r=",
    reads: "-f|--file= --rc-file= --no-rc --override-channels",
    connects: "-c|--channel=",
    isPersistent: true,
    commands: {
      run: { moves: "--cwd=", plain: "-n|--name= --no-capture-output", stops: true },
      "install create remove|uninstall update|upgrade list search info clean config activate deactivate env init package compare rename notices shell":
        {},
    },
  },
  {
    names: "gem bundle bundler rake",
    plain:
      "-q|--quiet -V|--verbose --debug --silent --norc -h|--help --no-color --retry= --version -v= --local --remote --no-document -N --user-install --pre --force -n|--dry-run -T -j|--jobs=",
    starts: "-e|--execute= -r|--require= --test -E|--execute-continue= -p|--execute-print= --build-root=",
    reads: "--config-file= --gemfile= -f|--rakefile= -R|--rakelibdir= -I|--libdir= -g|--file=? -P= --path=",
    writes: "-i|--install-dir= --bindir= --path=",
    connects: "-s|--source= -p|--http-proxy=?",
    moves: "-C|--directory= -N|--no-search -G|--no-system",
    isPersistent: true,
    commands: {
      "install|i update uninstall remove list outdated check show info add init lock cache package clean doctor platform open viz version help push yank build fetch search query specification contents dependency environment owner cleanup pristine which sources signin signout cert server unpack binstubs inject plugin gem console licenses":
        {},
      "exec|e": { stops: true },
      config: { commands: { "list get": {}, "set unset": { deed: "writes" } } },
    },
  },
  {
    names: "composer",
    plain:
      "-q|--quiet -v|--verbose --ansi --no-ansi -n|--no-interaction --no-plugins --no-scripts --no-cache -h|--help -V|--version --dev --no-dev -o --profile",
    moves: "-d|--working-dir=",
    isPersistent: true,
    skips: /^global$/,
    commands: {
      "install|i update|u|upgrade require|r remove|rm|uninstall show|info outdated validate dump-autoload|dumpautoload create-project search status diagnose init licenses why|depends why-not|prohibits audit archive browse home check-platform-reqs clear-cache fund bump self-update|selfupdate suggests reinstall":
        {},
      "exec run run-script": {},
      config: { deed: "writes" },
    },
  },
  {
    names: "apt apt-get apt-cache apt-mark aptitude",
    plain:
      "-q|--quiet -y|--yes|--assume-yes --assume-no -s|--simulate|--just-print|--dry-run|--recon|--no-act -d|--download-only -f|--fix-broken -m|--ignore-missing --no-install-recommends --no-install-suggests --install-suggests -u|--show-upgraded -V|--verbose-versions -t|--target-release|--default-release= --reinstall --purge --auto-remove --autoremove --allow-downgrades --allow-unauthenticated --only-upgrade --no-upgrade -a|--host-architecture= -v|--version -h|--help --no-remove --fix-missing --trivial-only -b|--compile|--build --only-source --dsc-only",
    reads: "-c|--config-file= -o|--option= --with-source=",
    isPersistent: true,
    commands: {
      "install add reinstall remove purge update upgrade full-upgrade|dist-upgrade autoremove|auto-remove autopurge list search show policy madison depends why rdepends showpkg showsrc stats dump unmet pkgnames hold unhold auto manual showhold showmanual showauto clean autoclean|auto-clean distclean check download source build-dep changelog edit-sources satisfy help moo versions why-not forbid-version markauto unmarkauto safe-upgrade":
        {},
    },
  },
  {
    names: "dpkg dpkg-query dpkg-deb dpkg-divert",
    plain:
      "-l|--list -L|--listfiles -s|--status -S|--search -p|--print-avail -W|--show -f|--showformat= --get-selections -c|--contents -I|--info -V|--verify -C|--audit --print-architecture --version --help --no-act --dry-run --simulate",
    starts: "--pre-invoke= --post-invoke= --status-logger= --path-include= --force-script-chrootless",
    writes:
      "-i|--install --unpack --configure -r|--remove -P|--purge --set-selections --clear-selections --add-architecture= --remove-architecture= -x|--extract -X|--vextract -e|--control -b|--build -R|--raw-extract --log= --update-avail --merge-avail -A|--record-avail --clear-avail --divert= --add --rename --command-fd= --triggers-only",
    moves: "--root= --admindir= --instdir=",
  },
  {
    names: "dnf yum microdnf dnf5 zypper",
    plain:
      "-q|--quiet -v|--verbose -y|--assumeyes --assumeno --refresh --nogpgcheck -C|--cacheonly --best --allowerasing --enablerepo= --disablerepo= --repo= -x|--exclude= -h|--help --version -n|--non-interactive",
    reads: "-c|--config= --setopt= -R= --plus-repo= -p= --rpmverbosity=",
    connects: "--repofrompath=",
    writes: "--destdir|--downloaddir= --installroot=",
    moves: "--root= --releasever=",
    isPersistent: true,
    commands: {
      "install|in remove|rm|erase update|up|upgrade dist-upgrade|dup list|ls search|se info|if provides|whatprovides repolist|lr repoquery check-update lu clean makecache reinstall downgrade autoremove history group|groups module swap download builddep copr config-manager shell addrepo|ar removerepo|rr refresh|ref patch verify":
        {},
    },
  },
  {
    names: "apk",
    plain:
      "-q|--quiet -v|--verbose -i|--interactive -U|--update-cache --no-cache -s|--simulate --no-network -f|--force -h|--help -V|--version --no-progress -t|--virtual= -u|--upgrade -l|--latest --purge",
    writes: "-o= --output= --cache-dir= --initdb --cache-max-age=",
    reads: "--keys-dir= --repositories-file= --allow-untrusted",
    connects: "-X|--repository=",
    moves: "-p|--root= --arch=",
    isPersistent: true,
    commands: {
      "add del fix update upgrade search list info policy audit cache fetch index stats verify version dot manifest convert-tbz":
        {},
    },
  },
  {
    names: "pacman yay paru",
    plain:
      "-Q|--query -S|--sync -R|--remove -U|--upgrade -F|--files -T|--deptest -D|--database -V|--version -h|--help -y|--refresh -u|--sysupgrade -s -i -l -q|--quiet -v|--verbose --noconfirm --needed -o|--owns= -c|--clean -k -m -n -e -t",
    reads: "--config= --hookdir= --gpgdir=",
    writes: "--cachedir= --logfile=",
    starts: "--makepkg= --editor= --pacman= --git= --sudo= --mflags= --gpg= --editorflags=",
    moves: "-b|--dbpath= -r|--root= --sysroot=",
  },
  {
    names: "brew port",
    plain: "-q|--quiet -v|--verbose -d|--debug -h|--help --json=? --cask --formula --force -f -n|--dry-run",
    starts: "--interactive -i --git --debug-symbols --editor",
    writes: "--appdir= --fontdir= --prefix=",
    isPersistent: true,
    isClosed: true,
    commands: {
      "install|instal reinstall uninstall|remove|rm update|up upgrade list|ls search info|abv outdated doctor|dr cleanup config deps uses leaves link|ln unlink pin unpin services cat desc log home|homepage shellenv autoremove commands fetch help missing options tap-info analytics audit livecheck style bottle":
        {},
      "tap untap": { deed: "connects" },

      "edit create sh ruby irb bundle developer": { deed: "starts" },
    },
  },
  {
    names: "nix nix-shell nix-env nix-build nix-store",
    plain:
      "-v|--verbose -q|--quiet --version --help --offline -L|--print-build-logs --show-trace --json --refresh --no-link",
    starts:
      "-c|--command= --run= --eval -E|--expr= --post-build-hook= --builders= --pure-eval --impure -x --plugin-files=",
    reads:
      "--option= -I|--include= -f|--file= --arg= --argstr= --override-input= --inputs-from= --reference-lock-file= --keep-env-derivations --accept-flake-config --extra-experimental-features=",
    writes: "-o|--out-link= -p|--profile= --profile= --add-root= --output-lock-file=",
    connects: "--store= --substituters= --extra-substituters=",
    isPersistent: true,
    commands: {
      "build run develop shell flake eval search profile log path-info copy store repl fmt why-depends show-derivation derivation hash key registry upgrade-nix edit bundle print-dev-env config daemon doctor help realisation print-env":
        {},
    },
  },
  {
    names: "snap flatpak",
    plain: "--user --system -y|--assumeyes --noninteractive -v|--verbose -h|--help --version",
    starts: "--command= --devel --shell --hook=",
    moves:
      "--installation= --cwd= --filesystem= --socket= --device= --share= --talk-name= --system-talk-name=",
    commands: {
      "install remove uninstall list ps info search update refresh find history repair remotes remote-ls override config kill enter revert enable disable connect disconnect set get unset services logs start stop restart alias unalias changes version mask pin permissions make-current":
        {},
      "remote-add": { deed: "connects" },
      run: {
        stops: true,
        starts: "--command= --devel --shell --hook=",
        moves: "--cwd= --filesystem= --socket= --device= --share= --talk-name= --system-talk-name=",
      },
    },
  },
  {
    names: "luarocks cpan cpanm opam ghcup stack cabal",
    plain: "-q|--quiet -v|--verbose -y|--yes -h|--help --version",
    starts: "--shell= -e= --exec= --with-compiler= --with-gcc= -w=",
    reads: "--config-file= --project-file= --stack-yaml= -j=",
    writes: "--tree= -L= -l|--local-lib= -L|--local-lib-contained= --install-dir= --installdir= --root=",
    connects: "--server= --from= --mirror=",
    isPersistent: true,
    commands: {
      "install remove uninstall list|ls search show build test run exec update upgrade publish upload init new clean repl ghci bench haddock sdist config switch pin env var repository path setup templates dot hoogle unpack get check configure freeze outdated gen-bounds user-config make pack lint which doc purge":
        {},
    },
  },
  {
    names: "npm-check-updates ncu",
    plain: "-u|--upgrade -g|--global -t|--target= -f|--filter=",
    reads: "--packageFile= --configFilePath= --configFileName=",
    moves: "--cwd= --prefix=",
    starts: "-d|--doctor --doctorInstall= --doctorTest=",
  },
  {
    names: "vsce twine",
    plain: "-h|--help --version",
    connects: "--repository-url= -r|--repository=",
    reads: "--config-file= -p= --packagePath=",
    commands: { "publish package upload check register login logout ls": {} },
  },
  {
    names: "lerna nx turbo lage rush wireit",
    plain: "-h|--help -v|--version --no-color --parallel --stream",
    starts: "--exec=",
    reads: "--config= --root-turbo-json= --globalConfig=",
    moves: "--cwd= --root= --project-dir= --to=",
    isPersistent: true,
    commands: {
      "run exec publish version bootstrap build test lint affected graph reset add create list changed diff clean init import link info repair prune daemon install update rebuild purge change deploy":
        {},
    },
  },
  {
    names: "asdf mise rtx direnv",
    plain: "-q|--quiet -v|--verbose -y|--yes -h|--help --version",
    moves: "-C|--cd=",
    starts: "--command= -c=",
    commands: {
      "list|ls current where which install uninstall plugin plugins latest reshim global local shell use set outdated upgrade doctor env settings config tasks version info deny status reload prune edit stdlib fetchurl hook":
        {},
      "exec|x run|r": { stops: true, starts: "-c|--command=" },
      "trust|allow|permit|grant activate generate": { deed: "starts" },
    },
  },
];
