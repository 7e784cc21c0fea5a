// SPDX-License-Identifier: Apache-2.0 OR MIT
  // The model, and the answers that wait.
  state_t now;
  assign now = after(state[0], steps[0], '0);

  always_comb begin
    if (started_q) begin
      for (int unsigned i = 0; i < Elements; i++) begin
        assert (now[i].used == list_q[i].used);
        if (list_q[i].used) begin
          assert (now[i].bucket == bucket_of(list_q[i].partition, list_q[i].prio));
          assert (now[i].data == list_q[i].data);
        end
        // Ports of one value.
        assert (!list_q[i].used || ((Partitions > 1 || list_q[i].partition == '0) && (BucketCount > Partitions || list_q[i].prio == '0)));
        assert (i == 0 || !last_q[i].used || last_q[(i+Elements-1)%Elements].used);
        assert (i == 0 || !list_q[i].used || list_q[(i+Elements-1)%Elements].used);
      end
      for (int unsigned i = 0; i < OccupancyDelay; i++) begin
        for (int unsigned p = 0; p < Partitions; p++) begin
          assert (number_t'(count_q[i][p]) == below(i == 0 ? now : state[i-1], BucketBits - unsigned'($clog2(Partitions)), p));
        end
      end
    end
  end

  for (genvar s = 0; s < int'(Latency); s++) begin : g_answers
    always_comb begin
      if (started_q && wait_q[s].valid) begin
        automatic number_t mine = below(state[s], BucketBits - unsigned'($clog2(Partitions)), number_t'(wait_q[s].partition));
        automatic logic oldest = 1'b1;
        assert (Partitions > 1 || wait_q[s].partition == '0);
        assert (BucketCount > Partitions || wait_q[s].asked_prio == '0);
        if (wait_q[s].op == Enqueue) begin
          assert (wait_q[s].status == (state[s][Elements-1].used ? Full : Ok));
          assert (wait_q[s].prio == '0 && wait_q[s].data == '0);
        end else begin
          assert (wait_q[s].status == (mine == 0 ? Empty : Ok));
          if (mine == 0) assert (wait_q[s].prio == '0 && wait_q[s].data == '0);
          else begin
            assert (below(state[s], 0, number_t'(steps[s].bucket)) != 0);
            for (int unsigned i = 0; i < Elements; i++) begin
              if (state[s][i].used && state[s][i].bucket == steps[s].bucket && oldest) begin
                oldest = 1'b0;
                assert (state[s][i].data == wait_q[s].data);
              end
              if (state[s][i].used && (BucketBits == $clog2(Partitions) ||
                  (number_t'(state[s][i].bucket) / (BucketCount / Partitions)) == number_t'(wait_q[s].partition))) begin
                assert (wait_q[s].op == DequeueMin ? state[s][i].bucket >= steps[s].bucket : state[s][i].bucket <= steps[s].bucket);
              end
            end
          end
        end
      end
    end
  end
