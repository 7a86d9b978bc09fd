/** Interpreters: code given inline, or loaded beside the script, has not been reviewed. */
import { commands } from "./operand-judges.ts";
import type { ProgramSpec } from "./option-table.ts";

export const LANGUAGES: readonly ProgramSpec[] = [
  {
    names: "python python2 python3 pypy pypy3 ipython python3-dbg",
    stops: true,
    plain:
      "-b -B -d -E -h|--help -I -O -OO -P -q -s -S -u -v -V|--version -x -? --help-all --help-env --check-hash-based-pycs=",
    starts: "-c= -m= -i -X= -W=",
  },
  {
    names: "node nodejs electron",
    stops: true,
    plain:
      "-v|--version -h|--help --no-warnings --trace-warnings --enable-source-maps --test --test-only --stack-trace-limit= --max-old-space-size= --throw-deprecation --trace-deprecation --preserve-symlinks --experimental-strip-types --no-deprecation --expose-gc --unhandled-rejections= --harmony --use-strict",
    starts:
      "-e|--eval= -p|--print= -pe= -r|--require= --import= --loader|--experimental-loader= -i|--interactive --inspect=? --inspect-brk=? --inspect-port= --inspect-wait=? --run= -c= --experimental-default-type= --input-type= --watch-path= --test-reporter= --test-global-setup= --build-snapshot --build-snapshot-config= --build-sea= --openssl-config= --openssl-shared-config --experimental-sea-config= --icu-data-dir= --snapshot-blob= --allow-addons --allow-child-process --allow-fs-write= --allow-worker --security-revert= -C|--conditions=",
    reads:
      "--env-file= --env-file-if-exists= --experimental-config-file= --experimental-default-config-file --policy-integrity= --experimental-policy=",
    writes:
      "--cpu-prof --cpu-prof-dir= --cpu-prof-name= --heap-prof --heap-prof-dir= --heapsnapshot-signal= --heapsnapshot-near-heap-limit= --diagnostic-dir= --report-dir|--report-directory= --report-filename= --redirect-warnings= --trace-event-file-pattern= --trace-events-enabled --trace-event-categories= --test-reporter-destination= --tls-keylog= --disable-warning= --prof --logfile= --localstorage-file= --test-rerun-failures= --report-on-fatalerror --report-uncaught-exception --test-update-snapshots",
  },
  {
    names: "tsx ts-node ts-node-esm esno esbuild-register jiti swc-node",
    stops: true,
    plain: "-v|--version -h|--help --no-cache --watch --transpile-only -T --swc --esm --files",
    starts:
      "-e|--eval= -p|--print= -r|--require= --import= --loader= -i|--interactive --compiler= -C= --transpiler= --inspect=?",
    reads: "--tsconfig= -P|--project= --env-file= -O|--compiler-options=",
    moves: "--cwd= --dir= --script-mode --cwd-mode",
  },
  {
    names: "deno",
    plain:
      "-q|--quiet -h|--help -V|--version -L|--log-level= --no-check=? --check --cached-only --no-lock --watch=? --json --no-prompt --no-remote --no-npm --frozen=?",
    starts:
      "-A|--allow-all --allow-run=? --allow-ffi=? --allow-write=? -W=? --allow-env=? -E=? --allow-sys=? -S=? --allow-import=? -I=? --preload= --require= --inspect=? --inspect-brk=? --inspect-wait=? --ext= --v8-flags= --location= --unsafely-ignore-certificate-errors=? -P=?",
    reads: "-c|--config= --import-map= --lock=? --env-file=? --cert= --allow-read=? -R=? -r|--reload=?",
    writes: "-o|--output= --coverage=? --node-modules-dir=? --vendor=? --junit-path=",
    connects: "--allow-net=? -N=?",
    isPersistent: true,
    isClosed: true,
    commands: {
      "run serve": { stops: true },
      "eval repl x install|i add compile upgrade jupyter uninstall deploy sandbox create": { deed: "starts" },
      "test bench check fmt lint cache info doc task types outdated publish init remove clean coverage completions help bundle approve-scripts audit update":
        {},
    },
  },
  {
    names: "perl raku",
    stops: true,
    plain: "-c -w -W -n -p -a -l=? -0=? -t -T -U -u -v -V=? -X -F=? -h -s -S -g",
    starts: "-e= -E= -M= -m= -d=? -D=? -x=? -C=?",
    writes: "-i=?",
    reads: "-I= -f",
    operands: commands(/\|\s*$|^\s*\|/),
  },
  {
    names: "ruby irb jruby truffleruby pry",
    stops: true,
    plain:
      "-c -w -W=? -n -p -a -l -0=? -v|--version -h|--help -F=? -y --verbose --yjit --jit --enable= --disable=",
    starts:
      "-e= -r|--require= -x=? -s -S --exec= -d|--debug -K= -E|--encoding= -T=? --external-encoding= --dump= --crash-report= --backtrace-limit= --prelude=",
    writes: "-i=?",
    reads: "-I= --noprompt --rcfile=",
    moves: "-C= -X=",
  },
  {
    names: "php php-cli php8",
    stops: true,
    plain:
      "-v|--version -i|--info -l|--syntax-check -m|--modules -q -h|--help -w -s -n --ini --re= --rf= --rc= --ri= -e -C -H",
    starts:
      "-r|--run= -B|--process-begin= -R|--process-code= -E|--process-end= -d|--define= -z|--zend-extension= -a|--interactive -F|--process-file= -f|--file= -b|--bindpath=",
    reads: "-c|--php-ini=",
    connects: "-S|--server=",
    moves: "-t|--docroot=",
  },
  { names: "lua luajit lua5.4 texlua", stops: true, plain: "-v -W -E", starts: "-e= -l= -i -j= -O= -b" },
  {
    names: "Rscript R r",
    plain: "--vanilla --no-save --no-restore --no-init-file -q|--quiet --slave --no-echo --version --help",
    starts: "-e= --default-packages= -d|--debugger= --debugger-args= -g= --encoding= --interactive --args",
    reads: "-f|--file= --workspace= --no-environ",
  },
  {
    names:
      "julia ocaml ghc ghci runghc runhaskell scala scala-cli kotlin kotlinc groovy clojure clj swift swiftc elixir erl iex mix rebar3 racket guile sbcl clisp ocamlfind dune nim nimble crystal v vlang gleam janet dart flutter",
    plain: "-v|--version -h|--help -q|--quiet -O -g -Wall --color=? -p= -t=",
    starts:
      "-e|--eval= -E|--print= -eval= -i|--interactive -L|--load= -l= -r|--require= -x= -X= -m|--main= -M= -A= -T= -c= --rpc-eval= -pgmF= -pgmc= -pgml= -fplugin= -F -with-rtsopts= --run= -run= -script= --script= -s= -sname= --sname= -name= --name= --cookie= --remsh= -S= --erl= --sysimage= -J= -C= --startup-file= -pp= -ppx= -Xcc= -Xlinker= -load-plugin= -P|--plugin= --js-options= --passC= --passL= -pa= -pz= -kernel= -boot= -config= -noshell -d|--define= --import= --main-class= --java= --jvm= --dep= --deps= -Sdeps= -J-cp= --ghc-options=",
    reads: "-I= --project=? -cp= -classpath= --classpath= --home= --depot= --config= --config-file=",
    writes:
      "-o|--output= --outdir= -odir= -hidir= -outputdir= -ddump= --trace-compile= --code-coverage= --track-allocation= --output-o= --build-dir= --nimcache=",
    moves: "-D= --root= --cwd= --path= --directory= --chdir=",
    stops: true,
  },
  {
    names: "java javac javap jshell jar jdb",
    style: "word",
    plain:
      "-version --version -help -h -ea -da -Xmx= -Xms= -Xss= -verbose -showversion -nowarn -g -source= -target= --release= --dry-run -encoding= -parameters -v -l -c -p -s -public -private",
    starts:
      "-agentlib= -agentpath= -javaagent= -XX= -D= --module-path= -p= --upgrade-module-path= --add-modules= -m= --module= --source= -Xrun= -Xdebug -Xbootclasspath= --patch-module= -J= -processor= -processorpath= --processor-path= -Xplugin= --add-exports= --add-opens= --execution= --startup= -R= -C= --compiler=",
    reads:
      "-cp= -classpath= --class-path= -jar= -Xloggc= -Xshare= --argument-files -extdirs= -endorseddirs= -sourcepath= --source-path= --system= -bootclasspath=",
    writes: "-d= -Xlog= -s= -h= -implicit= -f= -XDfoo=",
    operands: commands(/^@/),
    stops: false,
  },
  {
    names: "m4 bc dc gnuplot octave matlab maxima gp sage tclsh wish expect osascript groff troff",
    plain: "-l|--mathlib -q|--quiet -s|--synclines -V|--version -h|--help -w -P -i|--interactive",
    starts:
      "-e|--expression= -c= -f|--file= --eval= -r= -batch= --persist= -D|--define= -U= -I|--include= -x= -l= -d= -U -p= -j=",
    writes: "-F|--freeze-state= -o|--error-output= --debugfile=? --logfile= -logfile=",
    reads: "-R|--reload-state= -B= --init-file= --path=",
    operands: commands(/\b(?:system|popen|syscmd|esyscmd)\b|^!|^-f$/),
  },
];
