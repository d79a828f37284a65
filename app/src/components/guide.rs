//! How to read the drawing, the words, and what the model leaves out.

use leptos::prelude::*;

#[component]
pub(crate) fn Guide() -> impl IntoView {
    view! {
        <section class="guide" aria-labelledby="guide-title">
            <h2 id="guide-title">"How to read the drawing"</h2>
            <div class="guide-columns">
                <div>
                    <h3>"Marks"</h3>
                    <ul class="marks">
                        <li><span class="mark bar"></span>"Solid bar: by its own clock this worker may act."</li>
                        <li><span class="mark outline"></span>"Dashed outline: it still believes, or would have had the right."</li>
                        <li><span class="mark hatched"></span>"Hatching: it is frozen and does nothing, whatever its bar says."</li>
                        <li><span class="mark truth"></span>"Tinted bar: what the lock service truly holds."</li>
                        <li><span class="mark thick"></span>"Thick line: this node leads."</li>
                        <li><span class="mark thin"></span>"Thin line between lanes: a message; dashed with a cross: a lost one."</li>
                        <li><span class="mark dot-mark"></span>"Dot: a write that the store accepted; with a red ring: customers charged twice."</li>
                        <li><span class="mark cross-mark" aria-hidden="true">"✕"</span>"Cross: a refused write, a death."</li>
                        <li><span class="mark cross-mark ink" aria-hidden="true">"◇"</span>"Diamond: the sweeper sees an orphan; filled: it re-queues the row, or the job is DONE."</li>
                        <li><span class="mark cross-mark ink" aria-hidden="true">"|"</span>"Short upright stroke, when zoomed in: a stop-time check."</li>
                        <li><span class="mark cross-mark ink" aria-hidden="true">"S1"</span>"S1 to S6: the snapshots that the story is told by."</li>
                        <li><span class="mark field"></span>"Pale red: somebody believes what is no longer true."</li>
                    </ul>
                </div>
                <div>
                    <h3>"Words"</h3>
                    <dl class="words">
                        <dt>"Lease"</dt>
                        <dd>"A lock that ends by itself unless its holder renews it."</dd>
                        <dt>"Fencing token"</dt>
                        <dd>"A number that grows with every grant of the lock and travels with every write."</dd>
                        <dt>"Fence"</dt>
                        <dd>"The highest token that the store has accepted. It refuses lower ones, in one step with the write."</dd>
                        <dt>"Raising the fence"</dt>
                        <dd>"A new holder’s first write. It shuts out everyone before it, and only then does it read."</dd>
                        <dt>"Deadline and stop time"</dt>
                        <dd>"When the lock service ends the lease, by its leader’s clock, and when the holder must stop, by its own clock. The stop time is earlier by the margin."</dd>
                        <dt>"Monotonic clock and wall clock"</dt>
                        <dd>"The first is never set and only runs. The second shows the time of day and can be set, so it can step."</dd>
                        <dt>"Orphan and sweeper"</dt>
                        <dd>"An orphan is a row that says RUNNING although its holder is gone. The sweeper looks for such rows in an index that holds just the claimed ones, and puts them back into the queue."</dd>
                        <dt>"Revision"</dt>
                        <dd>"The lock service’s counter: one more for each committed change of keys, other tenants’ changes included. The token is the revision at which the key was created, so tokens have gaps."</dd>
                    </dl>
                </div>
                <div>
                    <h3>"What is simulated"</h3>
                    <p>
                        "Everything you see comes from one run of a simulator: three lock nodes with a replicated log, "
                        "workers with clocks of their own, a store, a sweeper, and a network. "
                        "Change anything, and the run is computed again from the start. "
                        "How long each worker works on each chunk is part of the setting, so chunks take different times."
                    </p>
                    <p>
                        "The lock service is like etcd, with three simplifications. "
                        "It notices an expiry at once, not on a loop every half second. "
                        "A new leader restarts a lease at exactly its full length, without adding an election timeout. "
                        "Its leader answers reads without asking the others again, as long as it has heard from a majority lately."
                    </p>
                    <p>
                        "A fence does not stop a message that is sent twice, or late, with the token that the fence has now: "
                        "the tokens are equal, so it passes. Recognising it is the job of idempotency. "
                        "Try “duplicate” or “delay” from a worker to the store, then let the store recognise recorded chunks."
                    </p>
                </div>
            </div>
            <h3>"What is checked"</h3>
            <dl class="words checks">
                <dt>"Every invoice charged at most once"</dt>
                <dd>"No chunk is recorded twice."</dd>
                <dt>"One acting holder"</dt>
                <dd>"Never do two workers may act at the same time: both up, neither frozen, and each before its stop time by its own clock."</dd>
                <dt>"No stale write accepted"</dt>
                <dd>"The store accepts no write with a token below that of a write it accepted earlier. A holder that has the lock but has not written yet does not count."</dd>
                <dt>"Tokens only grow"</dt>
                <dd>"Each grant’s token is above all earlier ones."</dd>
                <dt>"Only the owner releases"</dt>
                <dd>"A release ends only the lease that its sender obtained."</dd>
                <dt>"Acts in time"</dt>
                <dd>"Whatever a worker sends to the store, it sends before its stop time by its own monotonic clock."</dd>
                <dt>"The job finishes"</dt>
                <dd>"At the end the row is DONE and all ten chunks are recorded."</dd>
            </dl>
        </section>
    }
}
