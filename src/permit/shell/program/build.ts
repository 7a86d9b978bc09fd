/** Compilers, builders and test runners. */
import { commands, makeVariables, responseFiles } from "./operand-judges.ts";
import type { CommandSpec, ProgramSpec } from "./option-table.ts";

const GO_BUILD: CommandSpec = {
  plain: `-a -n -p= -race -msan -asan -cover -covermode= -coverpkg= -v -work -x -asmflags= -buildmode= -buildvcs= -installsuffix= -linkshared -mod= -tags= -trimpath
    -json -run= -bench= -count= -short -timeout= -failfast -list= -parallel= -cpu= -skip= -shuffle= -vet= -benchmem -benchtime= -fuzz= -fuzztime= -args -c -i -u -t -d -compiler= -m -e -f= -fix -o=`,
  starts: "-exec= -toolexec= -vettool= -gccgoflags= -ldflags= -gcflags=",
  reads: "-overlay= -modfile= -pgo= -fuzzcachedir=",
  writes:
    "-pkgdir= -coverprofile= -cpuprofile= -memprofile= -blockprofile= -mutexprofile= -trace= -outputdir= -test.testlogfile= -modcacherw",
  moves: "-C=",
};

export const BUILD: readonly ProgramSpec[] = [
  {
    names: "go",
    style: "word",
    ...GO_BUILD,
    isPersistent: true,
    isClosed: true,
    commands: {
      "build test vet list fmt clean doc get install version bug help fix": {},
      run: { stops: true },
      "tool generate": { deed: "starts" },
      env: { writes: "-w -u" },
      mod: { commands: { "tidy download graph verify why vendor init edit": {} } },
      work: { commands: { "use init sync edit vendor": {} } },
      telemetry: { deed: "writes" },
    },
  },
  {
    names: "gofmt goimports gofumpt",
    style: "word",
    plain: "-l -w -d -s -e -r=",
    writes: "-cpuprofile= -memprofile=",
    reads: "-srcdir=",
  },
  {
    names: "golangci-lint staticcheck",
    reads: "-c|--config= --modules-download-mode=",
    writes: "--out-format= --output.text.path= --cpu-profile-path= --mem-profile-path= --trace-path=",
    moves: "--path-prefix=",
    isPersistent: true,
    commands: { "run fmt linters formatters cache config custom version migrate help completion": {} },
  },
  {
    names: "cargo cross",
    plain: `-q|--quiet -v|--verbose -V|--version --color= --frozen --locked --offline --list --explain= -h|--help -p|--package= --workspace --all --exclude= --lib
      --bin= --bins --example= --examples --test= --tests --bench= --benches --all-targets --doc -F|--features= --all-features --no-default-features
      --target= -r|--release --profile= -j|--jobs= --keep-going --message-format= --no-run --no-fail-fast --timings=? --dry-run --open --no-deps -f|--force
      --edition= --name= --vcs= --dev --build --optional --rename= --git= --branch= --tag= --rev= --version= --allow-dirty --no-verify --token= --index= --registry= -n`,
    reads: "--config= -Z=",
    writes: "--target-dir= --artifact-dir= --out-dir= --root=",
    moves: "-C= --manifest-path= --path= --lockfile-path=",
    isPersistent: true,
    isClosed: true,
    skips: /^\+/,
    commands: {
      "build|b": {},
      "check|c": {},
      "test|t": {},
      "doc|d": {},
      "remove|rm": {},
      "bench clean fix add new init install uninstall publish update search tree metadata fmt clippy fetch generate-lockfile locate-project login logout owner package pkgid report rustdoc rustc vendor verify-project version yank info help nextest audit expand outdated deny machete llvm-cov read-manifest":
        {},
      "run|r": { stops: true },
    },
  },
  {
    names: "rustc rustdoc clippy-driver",
    plain:
      "-O -g --edition= --crate-name= --crate-type= --emit= --cfg= -L= -l= --target= --test -W= -A= -D= -F= -o= --out-dir= -V|--version -v",
    starts:
      "-C|--codegen= -Z= --test-builder= --runtool= --test-runtool= --test-runtool-arg= --extern= --test-builder-wrapper=",
    reads: "--sysroot= --html-in-header= --html-before-content= --html-after-content= --theme=",
    operands: responseFiles,
  },
  {
    names: "rustup",
    plain: "-v|--verbose -q|--quiet -h|--help -V|--version",
    isPersistent: true,
    skips: /^\+/,
    commands: {
      "show check update|upgrade default toolchain install uninstall target component override which doc man self set completions":
        {},
      run: { deed: "starts" },
    },
  },
  {
    names: "make gmake bmake pmake mingw32-make",
    plain:
      "-b -B|--always-make -d|--debug=? --trace -i|--ignore-errors -j|--jobs=? -k|--keep-going -l|--load-average|--max-load=? -n|--just-print|--dry-run|--recon -O|--output-sync=? -p|--print-data-base -q|--question -r|--no-builtin-rules -R|--no-builtin-variables -s|--silent|--quiet --no-silent -S|--no-keep-going|--stop -t|--touch -v|--version -w|--print-directory --no-print-directory -o|--old-file|--assume-old= -W|--what-if|--new-file|--assume-new= --warn-undefined-variables -h|--help --shuffle=?",
    starts: "-E|--eval= -e|--environment-overrides",
    reads: "-f|--file|--makefile= -I|--include-dir=",
    moves: "-C|--directory= -m=",
    operands: makeVariables,
  },
  {
    names: "ninja samu",
    plain: "-v|--verbose -j= -k= -l= -n --quiet --version -h|--help -w= -d=",
    starts: "-t=",
    reads: "-f=",
    moves: "-C=",
  },
  {
    names: "cmake ctest cpack",
    style: "word",
    plain:
      "-S= -B= -G= -A= -T= --build= --parallel= -j= --target= -t= --config= -v= -Wdev -Wno-dev --version --help --output-on-failure -R= -E= -L= -N -V -VV --verbose --install= --component= --clean-first --list-presets --fresh --trace --log-level= --rerun-failed",
    starts:
      "-P= -D= -E= --find-package -S= --build-and-test --build-makeprogram= --test-command= -I= --launch=",
    reads: "-C= --toolchain= --preset= --workflow= --project-file= --extra-submit= -DCMAKE_TOOLCHAIN_FILE=",
    writes:
      "--graphviz= --trace-redirect= --profiling-output= --debugger-dap-log= -O= --output-log= --output-junit= --prefix= --install-prefix=",
    moves: "--test-dir= --build-generator=",
  },
  {
    names: "meson",
    reads: "--native-file= --cross-file=",
    writes: "--destdir= --prefix=",
    starts: "--wrapper= --wrap= --gdb --gdb-path= --exe-wrapper=",
    moves: "-C=",
    isPersistent: true,
    commands: {
      "setup compile test install introspect configure dist init subprojects rewrite wrap env2mfile format reprocess":
        {},
      devenv: { deed: "starts" },
    },
  },
  {
    names: "bazel bazelisk blaze buck buck2 pants",
    style: "word",
    starts:
      "--run_under= --shell_executable= --spawn_strategy= --action_env= --test_wrapper= --host_jvm_args= --experimental_remote_downloader= --server_javabase= --script_path= --genrule_strategy= --host_action_env= --workspace_status_command= --credential_helper= --extra_toolchains= --crosstool_top= --override_repository= --override_module= --tool_tag=",
    reads: "--bazelrc= --config= --workspace_rc= --system_rc= --home_rc=",
    writes:
      "--output_base= --output_user_root= --symlink_prefix= --build_event_json_file= --build_event_text_file= --build_event_binary_file= --profile= --disk_cache= --repository_cache= --explain=",
    connects: "--remote_executor= --remote_cache= --bes_backend=",
    isPersistent: true,
  },
  {
    names: "mvn mvnw mvnd",
    plain:
      "-q|--quiet -B|--batch-mode -o|--offline -U|--update-snapshots -X|--debug -e|--errors -V|--show-version -v|--version -am|--also-make -pl|--projects= -T|--threads= -P|--activate-profiles= -ntp|--no-transfer-progress -fae -ff -fn -N|--non-recursive -rf|--resume-from=",
    reads: "-f|--file= -s|--settings= -gs|--global-settings= -t|--toolchains= -gt|--global-toolchains=",
    starts: "-D|--define= -b|--builder=",
    writes: "-l|--log-file=",
  },
  {
    names: "gradle gradlew",
    plain:
      "-q|--quiet -i|--info -d|--debug -s|--stacktrace -S|--full-stacktrace --offline --no-daemon --daemon --parallel --continue -x|--exclude-task= --dry-run -m --rerun-tasks --scan --no-scan -v|--version --console= --warning-mode= --tests= -a -t|--continuous --build-cache --no-build-cache",
    reads: "-b|--build-file= -c|--settings-file= -I|--init-script= --include-build=",
    starts: "-D|--system-prop= -P|--project-prop=",
    writes: "--project-cache-dir= --write-verification-metadata= -M=",
    moves: "-p|--project-dir= -g|--gradle-user-home= -F=",
  },
  {
    names: "ant sbt lein boot",
    plain:
      "-q|-quiet -v|-verbose -d -S|-silent -version -diagnostics -p|-projecthelp -k|-keep-going -noinput",
    style: "word",
    reads: "-f= -file= -buildfile= -find= -propertyfile= -lib= -main= -s=",
    starts: "-logger= -listener= -inputhandler= -D= -J= -jvm-debug= --sbt-jar= -java-home=",
    writes: "-l= -logfile=",
  },
  {
    names: "dotnet msbuild nuget",
    plain:
      "-c|--configuration= -v|--verbosity= -f|--framework= -r|--runtime= --no-restore --no-build --nologo -h|--help --version --list-sdks --info --filter= --interactive -q",
    starts:
      "-p= --property= -t= --additionalprobingpath= --roll-forward= --fx-version= --startup-hook= --test-adapter-path= -d|--diag=",
    reads: "--configfile= -s= --source= -logger= --logger= --settings= --runtimeconfig= --depsfile=",
    writes: "-o|--output= --artifacts-path= --packages= --results-directory= -bl",
    moves: "--project= --tool-path=",
    operands: commands(/^\/[a-z]+:|^@/i),
    isPersistent: true,
  },
  {
    names: "gcc cc g++ c++ cpp clang clang++ clang-cl gfortran tcc icc icx nvcc emcc em++ zig",
    style: "word",
    plain:
      "-o= -c -S -E -g -O= -W -Wall -Wextra -Werror -Wno= -Wpedantic -std= -D= -U= -I= -L= -l= -shared -static -pthread -fPIC -fpic -m= -v -V -pipe -x= -isystem= -iquote= -idirafter= -march= -mtune= -f= -M -MM -MD -MMD -MP -MT= -MQ= -ansi -pedantic -nostdlib -nostdinc -s -w -print= -dumpversion -dumpmachine --version --help",
    starts:
      "-wrapper= -fplugin= -fplugin-arg= -fpass-plugin= -B= -specs= --specs= -Wl,= -Wa,= -Wp,= -Xlinker= -Xassembler= -Xpreprocessor= -Xclang= -load= -fuse-ld= --ld-path= -fmodule-mapper= -fuse-linker-plugin -iplugindir= -ccbin= --compiler-bindir= -Xcompiler= -Xptxas= --driver-mode= -fintegrated-as= -gcc-toolchain= --gcc-toolchain= -ivfsoverlay= -no-integrated-cpp -fmodules-user-build-path= -pass-exit-codes=",
    reads:
      "-include= -imacros= --config= --config-system-dir= --config-user-dir= -T= --script= -fprofile-use= -fauto-profile= -fmodule-file= -resource-dir= --options-file=",
    writes:
      "-MF= -MJ= -dumpdir= -dumpbase= -fdump= -aux-info= -fcallgraph-info= -fprofile-dir= -fprofile-generate= -fprofile-instr-generate= -fdebug-prefix= -save-temps -save-stats -fopt-info= -fmodule-output= -serialize-diagnostics= --serialize-diagnostics= -ftime-trace= -fcrash-diagnostics-dir= -fstack-usage -gsplit-dwarf -fmodules-cache-path=",
    moves: "--sysroot= -isysroot= -working-directory=",
    operands: responseFiles,
  },
  {
    names: "ld gold lld ld.lld ld.gold ld.bfd mold",
    style: "word",
    plain: "-o= -L= -l= -shared -static -e= -m= -r -s -S -v -V --version --gc-sections --build-id= -z= -O=",
    starts:
      "-plugin= --plugin= -plugin-opt= --plugin-opt= -I= --dynamic-linker= --audit= -P= --depaudit= --wrap= -fuse-ld= -run",
    reads:
      "-T= --script= -c= --mri-script= --version-script= --dynamic-list= -R= --just-symbols= --retain-symbols-file= --default-script= -dT=",
    writes: "-Map= --Map= --dependency-file= --out-implib= --cref= --save-temps= --time-trace=",
    moves: "--sysroot=",
    operands: responseFiles,
  },
  {
    names: "as ar ranlib nm objdump readelf strip objcopy size addr2line c++filt strings",
    plain: "-a -A -C -D -g -n -p -r -S -t= -u -o -h -x -d -s -l -w -W -e= -f -i --version -j=",
    starts: "--plugin= -plugin= --dwp=",
    reads:
      "-M --mri --redefine-syms= --keep-symbols= --strip-symbols= --localize-symbols= --add-section= --info-section=",
    writes: "--output= -o= --dump-section= --split-dwo= --extract-dwo --MD= --gdwarf-sections",
    operands: responseFiles,
  },
  {
    names: "ccache distcc sccache",
    starts: "-k= -o= --set-config= -x= --start-server --dist-auth",
    writes: "--extract-result= -C --clear -d= --dir=",
    reads: "--config-path=",
  },
  {
    names: "pkg-config pkgconf",
    plain:
      "--cflags --libs --exists --modversion --list-all --static --version --print-errors --silence-errors --variable=",
    reads: "--define-variable= --with-path= --personality=",
    writes: "--log-file=",
  },
  {
    names: "configure autoconf automake autoreconf libtool",
    starts: "--with-autoconf= --language= -W= --trace= -M= --install",
    reads: "-I= -B= --include= --prepend-include= --cache-file= -C --libdir=",
    writes: "-o|--output= --prefix= --output-dir=",
    moves: "--srcdir=",
  },
  {
    names: "tsc tsgo",
    style: "word",
    plain:
      "--noEmit --strict -v --version -w --watch --pretty --listFiles --skipLibCheck --target= --module= --init --showConfig --help -h --all --incremental --jsx= --esModuleInterop",
    reads: "--plugins= --typeRoots= --rootDirs= --baseUrl= --paths=",
    writes:
      "--outDir= --outFile= --declarationDir= --tsBuildInfoFile= --generateTrace= --generateCpuProfile= --out=",
    moves: "--rootDir=",
    operands: responseFiles,
  },
  {
    names: "eslint",
    plain:
      "--ext= --max-warnings= --quiet --cache -f|--format= --no-color --color --debug -v|--version -h|--help --rule= --global= --env= --no-eslintrc --ignore-pattern= --no-ignore --report-unused-disable-directives --stdin --stdin-filename= --print-config= --no-error-on-unmatched-pattern --fix --fix-dry-run --fix-type=",
    starts: "--rulesdir= --plugin= --parser= --resolve-plugins-relative-to=",
    reads: "-c|--config= --ignore-path= --flag=",
    writes: "-o|--output-file= --cache-file= --cache-location=",
    moves: "--stdin-root=",
  },
  {
    names: "prettier stylelint biome xo standard oxlint dprint rome",
    plain:
      "-w|--write -c|--check -l|--list-different --log-level= --ignore-unknown --no-error-on-unmatched-pattern --version -h|--help --cache --fix --formatter= --stdin-filepath= --parser= --unsafe --staged --changed",
    starts: "--plugin= --plugins= --plugin-search-dir= --custom-formatter= --custom-syntax=",
    reads:
      "--config= --config-path= --config-basedir= --ignore-path= --configuration-basedir= -i= --find-config-path=",
    writes: "-o|--output-file= --cache-location= --cache-file= --log-path=",
    isPersistent: true,
  },
  {
    names: "jest vitest mocha ava tap nyc c8 karma cypress playwright wdio jasmine tape uvu qunit",
    plain:
      "-t|--testNamePattern= -g|--grep= --run --watch --watchAll --bail -b --verbose --silent --coverage -i --runInBand --ci -u|--update|--updateSnapshot --reporter= --project= --passWithNoTests --no-color --color --maxWorkers= -w= --testTimeout= --timeout= --version -v -h|--help --exit -R= --retries= --parallel --headed --dir= --ui --changed --onlyChanged -o --findRelatedTests --forceExit --detectOpenHandles",
    starts:
      "-r|--require= --import= --loader= --setupFiles= --globalSetup= --globalTeardown= --testRunner= --runner= --environment= --env= --testEnvironment= --transform= --resolver= --preset= --node-arguments= --execArgv= --poolOptions.forks.execArgv= --coverageProvider= --watchPlugins= --filter= --node-option= -n= --exec=",
    reads: "-c|--config= --opts= --package= --nycrc-path= --configFile= --config-file= -C=",
    writes:
      "--outputFile= --outputFile.json= --coverageDirectory= --coverage.reportsDirectory= --cacheDirectory= --output= --reporter-option= -O= --report-dir= --temp-dir= --logHeapUsage= --output-dir=",
    moves: "--rootDir= --root= -r= --cwd= --roots= --project-root=",
  },
  {
    names:
      "webpack vite rollup esbuild parcel tsup swc babel rspack snowpack next nuxt astro gatsby ng vue-cli-service remix gulp grunt storybook",
    plain:
      "-w|--watch --mode= --port= -p= --host=? --bundle --minify --sourcemap --format= --platform= --target= --version -h|--help --prod --debug --silent -d",
    starts:
      "--plugin= -p|--plugin= --require= -r= --loader= --inject= --preload= --presets= --plugins= --open=? --gulpfile= --gruntfile= --tasks= --footer= --banner= --serve=?",
    reads: "-c|--config= --config-file= --tsconfig= --env-file= --configPlugin= -e= --tsconfig-raw=",
    writes:
      "-o|--output= --outfile= --outdir= --out-dir= -d|--out-file= --output-path= --outDir= --metafile= --dist-dir= --cache-dir= --profile= --json=?",
    moves: "--root= --cwd= --base= --context=",
  },
  {
    names: "pytest py.test tox nox unittest coverage",
    plain:
      "-v|--verbose -q|--quiet -x|--exitfirst -k= -m= -s --maxfail= --lf|--last-failed --ff|--failed-first --tb= -r= -l|--showlocals --durations= --collect-only --co --no-header --no-summary -h|--help --version -n|--numprocesses= --cov=? --cov-report= --co --sw --stepwise -V --strict-markers --disable-warnings --fixtures --color= --capture= --import-mode= --ignore= --deselect= --nf",
    starts:
      "-p= --pdbcls= --pdb --trace -e= --pyargs --pastebin= --develop --installpkg= --workdir= -W= --doctest-continue --override= --discover= --default= --force-python= --extra-python= -P= --posargs=",
    reads:
      "-c= --config-file= --rcfile= --confcutdir= -o|--override-ini= --cov-config= --noxfile= -f= --conf= --source= --plugins=",
    writes:
      "--basetemp= --junitxml= --junit-xml= --log-file= --result-log= --cache-dir= --debug=? --data-file= --html= --report-log= --output= --envdir= --cov-data=",
    moves: "--rootdir= --root= --chdir=",
  },
  {
    names: "mypy pyright pylint flake8 ruff black isort bandit pyflakes autopep8 yapf pycodestyle pyre ty",
    plain:
      "-v|--verbose -q|--quiet --version -h|--help --fix --check --diff --select= --ignore= --exclude= --strict -l|--line-length= --max-line-length= --ignore-missing-imports --show-error-codes --pretty -t|--target-version= -r|--recursive -w --no-cache --profile= --show-fixes --watch --unsafe-fixes --statistics --color --stdin-filename=",
    starts:
      "--python-executable= --init-hook= --load-plugins= --plugin= --pythonpath= --custom-typeshed-dir= --custom-typing-module= --shadow-file= --install-types --enable-extensions=",
    reads:
      "-c= --config= --config-file= --settings-path= --sp= --settings-file= --settings= --rcfile= --style= --append-config= --ini= -p|--project= --extend-config=",
    writes:
      "-o= --output-file= --output= --cache-dir= --tee= --any-exprs-report= --html-report= --junit-xml= --txt-report= --xml-report= --linecount-report= --lineprecision-report= --cobertura-xml-report= --dump-generated= --baseline=",
    moves: "--stdin-display-name= --src= --src-path=",
    isPersistent: true,
  },
  {
    names: "rspec rubocop phpunit phpstan php-cs-fixer psalm pint pest minitest standardrb",
    plain:
      "-f|--format= -e= --color --no-color -t|--tag= --version -v -h|--help -a|--autocorrect -A --parallel --only= --except= --filter= --testdox --stop-on-failure -d|--display-cop-names --dry-run --diff",
    starts:
      "-r|--require= -I= --bootstrap= --autoload-file= -a|--autoload-file= --printer= --extension= --drb --drb-port= --require-dev --plugin= --prepend=",
    reads:
      "-c|--config|--configuration= -O|--options= --config-file= --default-path= -P= --rules= --include-path=",
    writes:
      "-o|--out= --cache-result-file= --coverage-html= --coverage-clover= --coverage-text= --coverage-xml= --coverage-php= --log-junit= --log-teamcity= --testdox-html= --testdox-text= --cache-root= --cache-file= --generate-baseline= --report= --set-baseline= --failure-exit-code=",
    moves: "--working-dir= --root=",
  },
  {
    names: "protoc buf flatc capnp thrift swagger-codegen openapi-generator",
    style: "word",
    plain: "-I= --proto_path= -version --version -h --help --include_imports",
    starts: "--plugin= --js_out= --custom-generator= -r= -o=",
    writes:
      "--cpp_out= --java_out= --python_out= --go_out= --descriptor_set_out= -o= --dependency_out= --out= --output=",
    reads: "--config= -t= --template=",
    operands: responseFiles,
  },
  {
    names: "shellcheck shfmt hadolint yamllint actionlint markdownlint markdownlint-cli2",
    plain:
      "-s|--shell= -e|--exclude= -f|--format= -S|--severity= -x|--external-sources -a -C|--color=? -V|--version -i= -l -d -w -o= --strict",
    reads: "-P|--source-path= --rcfile= -c|--config|--config-file= --config-data= --rules=",
    starts: "-shellcheck= -pyflakes= --rules=",
    writes: "--output=",
  },
];
