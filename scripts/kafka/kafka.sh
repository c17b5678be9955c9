#!/usr/bin/env bash
# A real Apache Kafka of one node, without Docker: the broker is published as
# Java artifacts, so its jars and a Java runtime are all it takes.
#
#   kafka.sh start        starts it, unless it runs, and prints its KAFKA_BROKERS
#   kafka.sh stop         stops it; its data stays
#   kafka.sh clean        stops it and deletes its data
#   kafka.sh with CMD...  runs CMD with KAFKA_BROKERS set, starting the broker if
#                         need be and then stopping it afterwards
#   kafka.sh jars         fetches its jars, once, and prints the directory of them
#
# KAFKA_PORT (19092) moves it; the port after it is the controller's. Each port
# has data of its own, so that several brokers can run side by side.
#
# KAFKA_VERSION (the one in pom.xml) is any release of Apache Kafka from 4.0 on. Data
# that one version has written is not opened by another.
#
# KAFKA_SECURITY=DIR makes it a secured one that allows nothing but what an ACL
# says. DIR holds ca.pem and, signed by that, broker.pem (key and certificate of
# CN=broker). KAFKA_PORT is TLS with client certificates then, of which CN=admin may
# do everything; two ports further is TLS without; three ports further is TLS with
# SASL PLAIN (user plain, password plain-secret) and SCRAM-SHA-256 and -512.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
state=$(cd "$here/../.." && pwd)/.kafka
port=${KAFKA_PORT:-19092}
version=${KAFKA_VERSION:-$(sed -n 's|.*<kafka.version>\(.*\)</kafka.version>.*|\1|p' "$here/pom.xml")}
security=${KAFKA_SECURITY:-}
node=$state/$port${security:+-secured}
jars=$state/jars-$version

say() { printf '%s\n' "kafka: $*" >&2; }
die() { say "$@"; exit 1; }

require() {
  command -v "$1" >/dev/null || die "$1 is missing: $2"
}

check_java() {
  require java "install a Java runtime, 17 or later (Debian: openjdk-17-jre-headless)"
  local major
  major=$(java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1)
  [ "${major:-0}" -ge 17 ] || die "java is version ${major:-unknown}: Apache Kafka 4 needs 17 or later"
}

# The copy is complete once it has its name: an interrupted one is made again.
fetch_jars() {
  [ ! -d "$jars" ] || [ "$here/pom.xml" -nt "$jars" ] || return 0
  require mvn "install Apache Maven (Debian: maven); it fetches the broker's jars once"
  say "fetching the jars of version $version"
  mkdir -p "$state"
  rm -rf "$jars" "$jars.part"
  mvn --quiet --batch-mode -Dstyle.color=never --file "$here/pom.xml" dependency:copy-dependencies -Dkafka.version="$version" \
    -DincludeScope=runtime -DoutputDirectory="$jars.part" >&2
  mv "$jars.part" "$jars"
  touch "$jars"
}

write_config() {
  cat >"$node/server.properties" <<EOF
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:$((port + 1))
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$((port + 1))
advertised.listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$((port + 1))
log.dirs=$node/data
auto.create.topics.enable=false
# One node can't replicate, and its groups have nobody to wait for.
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
# Made at first use: 50 partitions each, the default, keep the first transaction
# waiting for five seconds.
offsets.topic.num.partitions=4
transaction.state.log.num.partitions=4
# Tests delete topics by the hundred; their files need not stay for a minute.
log.segment.delete.delay.ms=1000
# Each partition maps two index files of this size, and the first touch of one may
# have the kernel read ahead over most of it: at the default of 10 MiB the first
# events to some dozens of new partitions wait for seconds.
log.index.size.max.bytes=65536
EOF
}

# The last of two lines for one setting counts.
write_security() {
  cat >>"$node/server.properties" <<EOF
listeners=MTLS://127.0.0.1:$port,CONTROLLER://127.0.0.1:$((port + 1)),TLS://127.0.0.1:$((port + 2)),SASL://127.0.0.1:$((port + 3))
advertised.listeners=MTLS://127.0.0.1:$port,TLS://127.0.0.1:$((port + 2)),SASL://127.0.0.1:$((port + 3))
listener.security.protocol.map=MTLS:SSL,CONTROLLER:SSL,TLS:SSL,SASL:SASL_SSL
inter.broker.listener.name=MTLS
listener.name.mtls.ssl.client.auth=required
listener.name.controller.ssl.client.auth=required
ssl.keystore.type=PEM
ssl.keystore.location=$security/broker.pem
ssl.truststore.type=PEM
ssl.truststore.location=$security/ca.pem
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
listener.name.sasl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_plain="plain-secret";
listener.name.sasl.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.sasl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:CN=broker;User:CN=admin
allow.everyone.if.no.acl.found=false
EOF
}

# The command line too is looked at: after a reboot the number may be another's.
running() {
  [ -f "$node/pid" ] && ps -ww -o command= -p "$(cat "$node/pid")" | grep -q "kafka.Kafka $node/"
}

up() { grep -q 'Kafka Server started' "$node/log"; }

port_taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

launch() {
  local classpath="$jars/*" options=("-Dlog4j2.configurationFile=$here/log4j2.properties")
  write_config
  if [ -n "$security" ]; then
    write_security
    options+=("-Danabranch.authorizer=debug")
  fi
  # The id may be any; it only tells this cluster from others.
  java -cp "$classpath" "${options[@]}" kafka.tools.StorageTool format --standalone --ignore-formatted \
    -t YW5hYnJhbmNoLXRlc3RzIQ -c "$node/server.properties" >"$node/log" 2>&1 || { cat "$node/log" >&2; die "formatting its storage failed"; }
  # In a process group of its own: Ctrl-C at "kafka.sh with" must not end the
  # broker before the command that uses it.
  set -m
  java -Xmx512m -cp "$classpath" "${options[@]}" kafka.Kafka "$node/server.properties" \
    >"$node/log" 2>&1 </dev/null &
  echo $! >"$node/pid"
  set +m
}

# A later version upgrades what it finds, and is then none that began as itself; an
# earlier one can't read it.
check_data() {
  local found=$version
  [ ! -f "$node/version" ] || found=$(cat "$node/version")
  [ "$found" = "$version" ] || die "the data of port $port is of version $found: KAFKA_PORT moves the broker, \"kafka.sh clean\" deletes the data"
}

await() {
  local deadline=$((SECONDS + 60))
  until up; do
    # By its number alone: until the shell's copy of itself has become Java, its
    # command line is the shell's.
    kill -0 "$(cat "$node/pid")" 2>/dev/null || { tail -n 20 "$node/log" >&2; die "the broker ended while starting"; }
    [ "$SECONDS" -lt "$deadline" ] || die "not up after 60 s; see $node/log"
    sleep 0.1
  done
}

start() {
  if ! running; then
    check_java
    port_taken "$port" && die "port $port is taken: KAFKA_PORT moves the broker"
    port_taken $((port + 1)) && die "port $((port + 1)), the controller's, is taken: KAFKA_PORT moves both"
    check_data
    mkdir -p "$node"
    fetch_jars
    echo "$version" >"$node/version"
    launch
  fi
  await
  say "version $version listens on 127.0.0.1:$port, log in $node/log"
}

stop() {
  running || return 0
  local pid deadline=$((SECONDS + 20))
  pid=$(cat "$node/pid")
  kill "$pid"
  while running; do
    [ "$SECONDS" -lt "$deadline" ] || { say "it does not end by itself: killed"; kill -9 "$pid"; }
    sleep 0.1
  done
  rm -f "$node/pid"
  say "stopped"
}

require ps "install procps"

case "${1:-}" in
start)
  start
  echo "KAFKA_BROKERS=127.0.0.1:$port"
  ;;
stop) stop ;;
clean)
  stop
  rm -rf "$node"
  ;;
jars)
  fetch_jars
  echo "$jars"
  ;;
with)
  shift
  running || trap stop EXIT
  start
  KAFKA_BROKERS=127.0.0.1:$port "$@"
  ;;
*)
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2
  exit 2
  ;;
esac
