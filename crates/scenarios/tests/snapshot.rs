//! What a snapshot shows of each kind of machine, as JSON, at instants at which it is known from the rules of the lab.

mod common;

use common::{instead, seconds};
use lease_lab_scenarios::Run;
use lease_lab_scenarios::snapshot::Snapshot;
use serde_json::{Value, json};

fn at(run: &Run, t: f64) -> Value {
    let snapshot = Snapshot::take(&run.world_at(seconds(t)), seconds(t), None);
    serde_json::to_value(&snapshot).expect("a snapshot can be printed")
}

#[test]
fn what_each_machine_has_is_in_the_snapshot() {
    for (lab, list, t, path, expected) in [
        // Redis: C’s key was set at 40.2 for 10 s, and the primary had no time to ship it before it died.
        ("cache-failover", "40.25 crash primary", 40.22, "/service/servers/primary/keys/0/holder", json!("C")),
        ("cache-failover", "40.25 crash primary", 40.22, "/service/servers/replica/keys", json!([])),
        ("cache-failover", "40.25 crash primary", 43.0, "/service/servers/primary/up", json!(false)),
        ("cache-failover", "40.25 crash primary", 43.0, "/service/servers/replica/role", json!("primary")),
        ("cache-failover", "40.25 crash primary", 43.0, "/service/servers/replica/epoch", json!(1)),
        ("redlock", "", 1.0, "/service/servers/r1/keys/0/holder", json!("A")),
        ("redlock", "0.5 crash r1", 1.0, "/service/servers/r1/keys", json!([])),
        // A lease item: A renewed at 3.0; D’s wall clock is 3 s fast, and its monotonic clock is not.
        ("claim-rules", "4 pause A", 5.0, "/service/items/0/lease", json!(10.0)),
        ("claim-rules", "4 pause A", 5.0, "/service/items/0/rvn", json!("A-v2")),
        ("claim-rules", "0 set claim-rule unchanged; 4 pause A", 5.0, "/workers/D/seen/rvn", json!("A-v2")),
        ("claim-rules", "4 pause A", 5.0, "/workers/D/seen", Value::Null),
        ("claim-rules", "4 pause A; 5 crash table", 5.0, "/machines/table/state", json!("crashed")),
        ("claim-rules", "4 pause A; 2 step-wall table 7", 5.0, "/machines/table/wall", json!(12.0)),
        // A session lock.
        ("one-database", "0 set authority session", 2.0, "/service/key/holder", json!("A")),
        ("one-database", "5 pause store", 6.0, "/machines/store/state", json!("paused")),
        // An election: A’s key has revision 7; B and C queue with 12 and 13.
        ("election", "4 crash A; 21 crash B", 5.0, "/service/candidates/0/worker", json!("A")),
        (
            "election",
            "4 crash A; 21 crash B",
            15.0,
            "/service/candidates/0",
            json!({"worker": "B", "token": 12, "watches": null}),
        ),
        (
            "election",
            "4 crash A; 21 crash B",
            15.0,
            "/service/candidates/1",
            json!({"worker": "C", "token": 13, "watches": 12}),
        ),
        ("zombie", "4 pause A 15", 15.0, "/service/candidates", Value::Null),
        // A lock-delay of 15 s: from the expiry at 13.0, and a little more for the log.
        ("election-systems", "4 pause A", 12.0, "/service/nodes/n1/memory/delayed_until", Value::Null),
        ("election-systems", "4 pause A", 20.0, "/service/nodes/n2/memory/delayed_until", Value::Null),
        // A sidecar keeps a frozen worker’s lease.
        ("sidecar", "4 pause A", 8.0, "/machines/sidecar-A/keeps", json!("A-0.1")),
        ("sidecar", "4 crash sidecar-A", 8.0, "/machines/sidecar-A/state", json!("crashed")),
        ("sidecar", "0 set renewer app", 8.0, "/machines/sidecar-A", Value::Null),
        ("fence-s3", "4 pause A 9.66", 13.705, "/store/s3/in_progress", json!(["B"])),
        // What is empty is an object all the same.
        ("zombie", "", 0.0, "/store/chunks", json!({})),
        ("no-lock", "", 1.0, "/workers", json!({})),
    ] {
        let snapshot = at(&instead(lab, list), t);
        let found = snapshot.pointer(path).unwrap_or(&Value::Null);
        assert_eq!(found, &expected, "{lab}, {list}: {path} at {t}");
    }
}

#[test]
fn times_in_a_snapshot_are_those_of_the_rules() {
    let lease = 10.0;
    let near = |snapshot: &Value, path: &str, expected: f64| {
        let found = snapshot.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path} is no number"));
        assert!((found - expected).abs() <= 0.1, "{path}: {found}, expected {expected}");
    };
    near(
        &at(&instead("election-systems", "4 pause A"), 20.0),
        "/service/nodes/n1/memory/delayed_until",
        3.0 + lease + 15.0,
    );
    let unchanged = instead("claim-rules", "0 set claim-rule unchanged; 4 pause A");
    // D polls at 0.5, 1.5, … and sees the renewal of 3.0 first at 3.5.
    near(&at(&unchanged, 5.0), "/workers/D/seen/since", 3.5);
    near(
        &at(&instead("cache-failover", "40.25 crash primary"), 40.22),
        "/service/servers/primary/keys/0/expires",
        40.2 + lease,
    );
}
